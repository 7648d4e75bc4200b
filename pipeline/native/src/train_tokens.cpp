#include "train_tokens.hpp"

#include <algorithm>

namespace jogak {

namespace {

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Whether `text` is one complete character or a sequence of them (strict UTF-8).
bool is_whole(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) {
            return false;
        }
        if (at + size > text.size()) {
            return false;
        }
        for (std::size_t i = 1; i < size; ++i) {
            if (!continues(text[at + i])) {
                return false;
            }
        }
        const auto second = size > 1 ? static_cast<unsigned char>(text[at + 1]) : 0;
        // Overlong forms, surrogates, and what lies beyond U+10FFFF.
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
            (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
            return false;
        }
        at += size;
    }
    return true;
}

std::uint64_t prefix_of(std::string_view bytes) noexcept {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        const auto byte = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
        prefix = prefix << 8U | byte;
    }
    return prefix;
}

} // namespace

Tokens::Tokens(const Alphabet& alphabet, const TrainOptions& options)
    : max_bytes_(options.max_token_bytes), max_chars_(options.max_token_chars),
      whole_characters_(options.whole_characters),
      forbidden_(options.forbidden.begin(), options.forbidden.end()) {
    for (const std::string& bytes : options.forbidden) {
        forbidden_sizes_.resize(std::max(forbidden_sizes_.size(), bytes.size() + 1));
        forbidden_sizes_[bytes.size()] = true;
    }
    for (const std::string& bytes : alphabet.tokens) {
        // A character's suffix is no character; tokens of an earlier vocabulary hold several.
        std::string_view text = bytes;
        if (!alphabet.suffix.empty() && text.ends_with(alphabet.suffix)) {
            text.remove_suffix(alphabet.suffix.size());
        }
        const auto begun =
            std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); });
        append(bytes, alphabet.characters ? 1 : static_cast<std::uint32_t>(begun));
    }
}

bool Tokens::may_join(TokenId left, TokenId right) const noexcept {
    const std::string_view head = bytes(left);
    const std::string_view tail = bytes(right);
    const std::size_t size = head.size() + tail.size();
    if (size > max_bytes_) {
        return false;
    }
    const std::size_t begun = std::size_t{chars_[left]} + chars_[right];
    if (begun + (continues(head.front()) ? 1 : 0) > max_chars_) {
        return false;
    }
    if (whole_characters_) {
        const bool inside = continues(tail.front()) && !whole_[left];
        if (!inside && !(whole_[left] && whole_[right])) {
            return false;
        }
    }
    if (size < forbidden_sizes_.size() && forbidden_sizes_[size]) {
        return !forbidden_.contains(std::string(head).append(tail));
    }
    return true;
}

TokenId Tokens::join(TokenId left, TokenId right) {
    const auto id = static_cast<TokenId>(size());
    append(std::string(bytes(left)).append(bytes(right)), chars_[left] + chars_[right]);
    return id;
}

void Tokens::append(std::string_view bytes, std::uint32_t chars) {
    text_.append(bytes);
    starts_.push_back(text_.size());
    prefixes_.push_back(prefix_of(bytes));
    chars_.push_back(chars);
    whole_.push_back(is_whole(bytes));
}

} // namespace jogak
