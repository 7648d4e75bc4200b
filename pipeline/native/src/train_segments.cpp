#include "train_segments.hpp"

#include <algorithm>

namespace jogak {

bool Segments::suit(const Alphabet& alphabet) noexcept {
    std::array<bool, 256> has{};
    for (const std::string& token : alphabet.tokens) {
        if (token.size() != 1 || has[static_cast<unsigned char>(token[0])]) {
            return false;
        }
        has[static_cast<unsigned char>(token[0])] = true;
    }
    return !alphabet.characters && alphabet.tokens.size() == has.size();
}

Segments::Segments(const Alphabet& alphabet, std::size_t most) : most_(most) {
    for (std::size_t id = 0; id < alphabet.tokens.size(); ++id) {
        bytes_[static_cast<unsigned char>(alphabet.tokens[id][0])] = static_cast<TokenId>(id);
    }
}

/// Makes room for the tokens of a new segment, which the caller appends; false where there is none.
bool Segments::begin(std::uint32_t code, std::size_t length) {
    if (is_full()) {
        overflowed_ = true;
        return false;
    }
    starts_.push_back(tokens_.size());
    lengths_.push_back(static_cast<std::uint32_t>(length));
    weights_.push_back(0);
    codes_.push_back(code);
    entry(code) = static_cast<std::uint32_t>(size());
    return true;
}

std::size_t Segments::learn(std::uint32_t code, std::string_view text) {
    if (!begin(code, text.size())) {
        return 0;
    }
    for (const char byte : text) {
        tokens_.push_back(bytes_[static_cast<unsigned char>(byte)]);
    }
    return size() - 1;
}

std::vector<std::uint32_t> Segments::absorb(const Segments& other) {
    std::vector<std::uint32_t> ids(other.size());
    overflowed_ = overflowed_ || other.overflowed_;
    for (std::size_t id = 0; id < ids.size() && !overflowed_; ++id) {
        const std::uint32_t code = other.codes_[id];
        if (entry(code) == 0) {
            const std::span<const TokenId> added = other.tokens(id);
            if (!begin(code, added.size())) {
                break;
            }
            tokens_.insert(tokens_.end(), added.begin(), added.end());
        }
        ids[id] = entry(code) - 1;
        weights_[ids[id]] += other.weights_[id];
    }
    return ids;
}

std::size_t Segments::join(std::size_t left, std::size_t right) {
    const std::size_t start = tokens_.size();
    tokens_.reserve(start + lengths_[left] + lengths_[right]);
    for (const std::size_t part : {left, right}) {
        const std::span<const TokenId> added = tokens(part);
        tokens_.insert(tokens_.end(), added.begin(), added.end());
    }
    starts_.push_back(start);
    lengths_.push_back(lengths_[left] + lengths_[right]);
    weights_.push_back(0);
    return size() - 1;
}

bool Segments::merge(std::size_t id, TokenId left, TokenId right, TokenId made) {
    TokenId* const tokens = tokens_.data() + starts_[id];
    const std::size_t length = lengths_[id];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < length; ++i) {
        if (i + 1 < length && tokens[i] == left && tokens[i + 1] == right) {
            tokens[kept++] = made;
            ++i;
        } else {
            tokens[kept++] = tokens[i];
        }
    }
    lengths_[id] = static_cast<std::uint32_t>(kept);
    return kept < length;
}

} // namespace jogak
