#include "jogak/match.hpp"

#include <algorithm>
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
        if (!is_first_[first]) {
            is_first_[first] = true;
            firsts_.push_back(pattern[0]);
        }
        for (std::size_t second = 0; second < 256; ++second) {
            if (pattern.size() == 1 || second == static_cast<std::uint8_t>(pattern[1])) {
                pairs_[first * 256U + second] = true;
            }
        }
    }
}

/// Where the next byte is, from `from` on, with which a pattern begins; data.size() if nowhere.
std::size_t Matcher::next_first(std::string_view data, std::size_t from) const noexcept {
    if (firsts_.size() == 1) {
        // All of a vocabulary's added tokens begin so, as a rule: a search by vectors.
        return std::min(data.find(firsts_[0], from), data.size());
    }
    while (from < data.size() && !is_first_[static_cast<std::uint8_t>(data[from])]) {
        ++from;
    }
    return from;
}

/// The longest pattern at a place of a text; of none the end is the place.
Match Matcher::longest_at(std::string_view text, std::size_t position) const noexcept {
    const auto first = static_cast<std::uint8_t>(text[position]);
    // The last byte of a text has no second: 0 stands in, one-byte patterns accept any.
    const auto second = position + 1 < text.size() ? static_cast<std::uint8_t>(text[position + 1])
                                                   : std::uint8_t{0};
    const auto start = static_cast<std::int64_t>(position);
    Match longest{start, start, ByteTrie::none};
    if (!pairs_[first * 256U + second]) {
        return longest;
    }
    std::uint32_t node = ByteTrie::root;
    for (std::size_t next = position; next < text.size(); ++next) {
        node = patterns_.child(node, static_cast<std::uint8_t>(text[next]));
        if (node == ByteTrie::none) {
            break;
        }
        if (patterns_.value(node) != ByteTrie::none) {
            longest.pattern = patterns_.value(node);
            longest.end = static_cast<std::int64_t>(next) + 1;
        }
    }
    return longest;
}

std::vector<Match> Matcher::find(const Documents& documents) const {
    std::vector<Match> found;
    if (documents.size() == 0) {
        return found;
    }
    // Candidates are looked for in all documents at once, for most documents have none.
    const auto end = static_cast<std::size_t>(documents.offsets.back());
    const std::string_view data(reinterpret_cast<const char*>(documents.data.data()), end);
    std::size_t document = 0;
    auto position = static_cast<std::size_t>(documents.offsets.front());
    while ((position = next_first(data, position)) < end) {
        while (static_cast<std::size_t>(documents.offsets[document + 1]) <= position) {
            ++document;
        }
        const auto base = static_cast<std::size_t>(documents.offsets[document]);
        const Match match = longest_at(documents[document], position - base);
        if (match.end == match.start) {
            ++position;
            continue;
        }
        found.push_back({documents.offsets[document] + match.start,
                         documents.offsets[document] + match.end, match.pattern});
        position = base + static_cast<std::size_t>(match.end);
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
