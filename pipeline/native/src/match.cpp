#include "jogak/match.hpp"

#include <stdexcept>

namespace jogak {

namespace {

constexpr std::size_t pair_count = 65536;

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t key) noexcept {
    return (key * 0x9E3779B97F4A7C15ULL) >> 20;
}

} // namespace

Matcher::Matcher(const std::vector<std::string>& patterns)
    : keys_(64, 0), values_(64, 0), ends_(1, none), pairs_(pair_count, false) {
    for (std::size_t index = 0; index < patterns.size(); ++index) {
        if (patterns[index].empty()) {
            throw std::invalid_argument("pattern " + std::to_string(index) + " is empty");
        }
        insert(patterns[index], static_cast<std::uint32_t>(index));
    }
}

void Matcher::insert(std::string_view pattern, std::uint32_t index) {
    const auto first = static_cast<std::uint8_t>(pattern[0]);
    if (pattern.size() == 1) {
        for (std::size_t second = 0; second < 256; ++second) {
            pairs_[first * 256U + second] = true;
        }
    } else {
        pairs_[first * 256U + static_cast<std::uint8_t>(pattern[1])] = true;
    }
    std::uint32_t node = 0;
    for (const char character : pattern) {
        const auto byte = static_cast<std::uint8_t>(character);
        std::uint32_t next = child(node, byte);
        if (next == none) {
            if (2 * (edges_ + 1) > keys_.size()) {
                grow();
            }
            next = static_cast<std::uint32_t>(ends_.size());
            ends_.push_back(none);
            const std::uint64_t key = ((static_cast<std::uint64_t>(node) << 8) | byte) + 1;
            std::size_t slot = mix(key) & (keys_.size() - 1);
            while (keys_[slot] != 0) {
                slot = (slot + 1) & (keys_.size() - 1);
            }
            keys_[slot] = key;
            values_[slot] = next;
            ++edges_;
        }
        node = next;
    }
    if (ends_[node] != none) {
        throw std::invalid_argument("pattern " + std::to_string(index) + " repeats pattern " +
                                    std::to_string(ends_[node]));
    }
    ends_[node] = index;
}

std::uint32_t Matcher::child(std::uint32_t node, std::uint8_t byte) const noexcept {
    const std::uint64_t key = ((static_cast<std::uint64_t>(node) << 8) | byte) + 1;
    std::size_t slot = mix(key) & (keys_.size() - 1);
    while (keys_[slot] != 0) {
        if (keys_[slot] == key) {
            return values_[slot];
        }
        slot = (slot + 1) & (keys_.size() - 1);
    }
    return none;
}

void Matcher::grow() {
    std::vector<std::uint64_t> keys(keys_.size() * 2, 0);
    std::vector<std::uint32_t> values(keys.size(), 0);
    for (std::size_t old = 0; old < keys_.size(); ++old) {
        if (keys_[old] == 0) {
            continue;
        }
        std::size_t slot = mix(keys_[old]) & (keys.size() - 1);
        while (keys[slot] != 0) {
            slot = (slot + 1) & (keys.size() - 1);
        }
        keys[slot] = keys_[old];
        values[slot] = values_[old];
    }
    keys_.swap(keys);
    values_.swap(values);
}

std::vector<Match> Matcher::find(const Documents& documents) const {
    std::vector<Match> found;
    for (std::size_t index = 0; index < documents.size(); ++index) {
        const std::string_view text = documents[index];
        const std::int64_t base = documents.offsets[index];
        std::size_t position = 0;
        while (position < text.size()) {
            const auto first = static_cast<std::uint8_t>(text[position]);
            // The last byte of a text has no second: 0 stands in, one-byte patterns accept any.
            const auto second = position + 1 < text.size()
                                    ? static_cast<std::uint8_t>(text[position + 1])
                                    : std::uint8_t{0};
            if (!pairs_[first * 256U + second]) {
                ++position;
                continue;
            }
            std::uint32_t node = 0;
            std::uint32_t pattern = none;
            std::size_t end = position;
            for (std::size_t next = position; next < text.size(); ++next) {
                node = child(node, static_cast<std::uint8_t>(text[next]));
                if (node == none) {
                    break;
                }
                if (ends_[node] != none) {
                    pattern = ends_[node];
                    end = next + 1;
                }
            }
            if (pattern == none) {
                ++position;
                continue;
            }
            found.push_back({base + static_cast<std::int64_t>(position),
                             base + static_cast<std::int64_t>(end), pattern});
            position = end;
        }
    }
    return found;
}

std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
replace_text(const Documents& documents, std::string_view old_text, std::string_view new_text) {
    if (old_text.empty()) {
        throw std::invalid_argument("the text to replace is empty");
    }
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets{0};
    data.reserve(documents.data.size() + documents.data.size() / 4);
    offsets.reserve(documents.size() + 1);
    for (std::size_t index = 0; index < documents.size(); ++index) {
        const std::string_view text = documents[index];
        std::size_t position = 0;
        while (true) {
            const std::size_t at = text.find(old_text, position);
            const std::string_view kept = text.substr(position, at - position);
            data.insert(data.end(), kept.begin(), kept.end());
            if (at == std::string_view::npos) {
                break;
            }
            data.insert(data.end(), new_text.begin(), new_text.end());
            position = at + old_text.size();
        }
        offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    return {std::move(data), std::move(offsets)};
}

} // namespace jogak
