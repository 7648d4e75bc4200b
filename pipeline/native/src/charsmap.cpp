#include "jogak/charsmap.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace jogak {

namespace {

// The fields of a Darts-clone unit.
[[nodiscard]] constexpr bool has_leaf(std::uint32_t unit) noexcept { return (unit >> 8 & 1) != 0; }
[[nodiscard]] constexpr std::uint32_t value_of(std::uint32_t unit) noexcept {
    return unit & 0x7FFFFFFF;
}
[[nodiscard]] constexpr std::uint32_t label_of(std::uint32_t unit) noexcept {
    return unit & 0x800000FF;
}
[[nodiscard]] constexpr std::uint32_t offset_of(std::uint32_t unit) noexcept {
    return (unit >> 10) << ((unit & (1U << 9)) >> 6);
}

void append(std::vector<std::uint8_t>& data, std::string_view text) {
    data.insert(data.end(), text.begin(), text.end());
}

[[nodiscard]] std::size_t character_size(char lead) noexcept {
    const auto byte = static_cast<std::uint8_t>(lead);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

} // namespace

CharsMap::CharsMap(std::span<const std::uint8_t> blob, std::span<const std::string> kept) {
    for (const std::string& text : kept) {
        kept_.insert(text, 0);
    }
    std::uint32_t trie_bytes = 0;
    if (blob.size() < sizeof trie_bytes) {
        throw std::invalid_argument("the character map has " + std::to_string(blob.size()) +
                                    " bytes, too few for its header");
    }
    std::memcpy(&trie_bytes, blob.data(), sizeof trie_bytes); // little-endian, as all we run on
    if (trie_bytes % 4 != 0 || trie_bytes == 0 || trie_bytes > blob.size() - 4) {
        throw std::invalid_argument("the character map states a trie of " +
                                    std::to_string(trie_bytes) + " bytes, but holds " +
                                    std::to_string(blob.size() - 4));
    }
    units_.resize(trie_bytes / 4);
    std::memcpy(units_.data(), blob.data() + 4, trie_bytes);
    const std::span<const std::uint8_t> rest = blob.subspan(4 + trie_bytes);
    texts_.assign(rest.begin(), rest.end());
    if (texts_.empty() || texts_.back() != '\0') {
        throw std::invalid_argument("the character map's last string does not end");
    }
}

CharsMap::Found CharsMap::longest(std::string_view text) const noexcept {
    Found found;
    std::size_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<std::uint8_t>(text[i]);
        node ^= byte;
        if (node >= units_.size() || label_of(units_[node]) != byte) {
            break;
        }
        const std::uint32_t unit = units_[node];
        node ^= offset_of(unit);
        if (has_leaf(unit) && node < units_.size() && value_of(units_[node]) < texts_.size()) {
            found = {i + 1, value_of(units_[node])};
        }
    }
    return found;
}

/// The size of the longest kept string that the text begins with; 0: none.
std::size_t CharsMap::kept_size(std::string_view text) const noexcept {
    std::size_t size = 0;
    std::uint32_t node = ByteTrie::root;
    for (std::size_t i = 0; i < text.size(); ++i) {
        node = kept_.child(node, static_cast<std::uint8_t>(text[i]));
        if (node == ByteTrie::none) {
            break;
        }
        if (kept_.value(node) != ByteTrie::none) {
            size = i + 1;
        }
    }
    return size;
}

std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
CharsMap::apply(const Documents& documents) const {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets{0};
    data.reserve(documents.data.size());
    for (std::size_t index = 0; index < documents.size(); ++index) {
        std::string_view text = documents[index];
        while (!text.empty()) {
            std::size_t size = kept_size(text);
            if (size == 0) {
                const Found found = longest(text);
                if (found.size != 0) {
                    append(data, texts_.c_str() + found.value);
                    text.remove_prefix(found.size);
                    continue;
                }
                size = character_size(text[0]);
            }
            append(data, text.substr(0, size));
            text.remove_prefix(size);
        }
        offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    return {std::move(data), std::move(offsets)};
}

std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
edit_spaces(const Documents& documents, const SpaceRules& rules) {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets{0};
    data.reserve(documents.data.size());
    for (std::size_t index = 0; index < documents.size(); ++index) {
        std::string_view text = documents[index];
        if (rules.strip_start) {
            text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        }
        while (!rules.strip_end.empty() && text.ends_with(rules.strip_end)) {
            text.remove_suffix(rules.strip_end.size());
        }
        bool after_space = false;
        for (const char character : text) {
            const bool is_space = character == ' ';
            if (!(is_space && after_space && rules.squeeze)) {
                data.push_back(static_cast<std::uint8_t>(character));
            }
            after_space = is_space;
        }
        offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    return {std::move(data), std::move(offsets)};
}

} // namespace jogak
