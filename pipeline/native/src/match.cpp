#include "jogak/match.hpp"

#include <stdexcept>

namespace jogak {

namespace {

constexpr std::size_t pair_count = 65536;

} // namespace

Matcher::Matcher(const std::vector<std::string>& patterns) : pairs_(pair_count, false) {
    for (std::size_t index = 0; index < patterns.size(); ++index) {
        const std::string& pattern = patterns[index];
        if (pattern.empty()) {
            throw std::invalid_argument("pattern " + std::to_string(index) + " is empty");
        }
        const std::uint32_t before = patterns_.insert(pattern, static_cast<std::uint32_t>(index));
        if (before != ByteTrie::none) {
            throw std::invalid_argument("pattern " + std::to_string(index) + " repeats pattern " +
                                        std::to_string(before));
        }
        const std::size_t first = static_cast<std::uint8_t>(pattern[0]);
        for (std::size_t second = 0; second < 256; ++second) {
            if (pattern.size() == 1 || second == static_cast<std::uint8_t>(pattern[1])) {
                pairs_[first * 256U + second] = true;
            }
        }
    }
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
            std::uint32_t node = ByteTrie::root;
            std::uint32_t pattern = ByteTrie::none;
            std::size_t end = position;
            for (std::size_t next = position; next < text.size(); ++next) {
                node = patterns_.child(node, static_cast<std::uint8_t>(text[next]));
                if (node == ByteTrie::none) {
                    break;
                }
                if (patterns_.value(node) != ByteTrie::none) {
                    pattern = patterns_.value(node);
                    end = next + 1;
                }
            }
            if (pattern == ByteTrie::none) {
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
