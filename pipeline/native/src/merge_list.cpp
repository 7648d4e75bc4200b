#include "jogak/merge_list.hpp"

#include "jogak/merge_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

/// Takes what stands before the separator, or all the rest, off the front of a text.
[[nodiscard]] std::string_view take(std::string_view& text, std::string_view separator) {
    const std::size_t place = text.find(separator);
    const std::string_view found = text.substr(0, place);
    text.remove_prefix(place == std::string_view::npos ? text.size() : place + separator.size());
    return found;
}

/// What is left of a text behind so many characters.
[[nodiscard]] std::string_view behind(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; characters != 0 && at < text.size(); --characters) {
        do {
            ++at;
        } while (at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80);
    }
    return text.substr(at);
}

[[nodiscard]] std::vector<std::int64_t> places(std::vector<std::uint8_t>& data,
                                               std::string_view tokens, std::string_view separator,
                                               std::size_t count) {
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(count + 1);
    data.reserve(tokens.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view token = take(tokens, separator);
        data.insert(data.end(), token.begin(), token.end());
        offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    return offsets;
}

} // namespace

std::vector<TokenId> merge_ids(std::string_view tokens, std::string_view separator,
                               std::span<const TokenId> ids, const MergeText& merges) {
    std::vector<std::uint8_t> data;
    const std::vector<std::int64_t> offsets = places(data, tokens, separator, ids.size());
    const TokenIndex index(data, offsets);
    const auto id_of = [&](std::string_view text) {
        const TokenId found =
            index.find({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        return text.empty() || found == no_token ? missing_token : ids[found];
    };
    std::vector<TokenId> result;
    result.reserve(3 * merges.count);
    std::string joined;
    std::string_view rest = merges.text;
    for (std::size_t i = 0; i < merges.count; ++i) {
        const std::string_view left = take(rest, merges.inner);
        const std::string_view right = take(rest, merges.outer);
        if (left.find(merges.outer) != std::string_view::npos ||
            right.find(merges.inner) != std::string_view::npos) {
            throw std::invalid_argument("merge " + std::to_string(i) + " is not two parts");
        }
        joined.assign(left);
        joined += behind(right, merges.prefix_characters);
        result.insert(result.end(), {id_of(left), id_of(right), id_of(joined)});
    }
    return result;
}

TokenBytes join_merges(const Documents& base, std::span<const TokenId> left,
                       std::span<const TokenId> right) {
    TokenBytes made{{base.data.begin(), base.data.end()}, {}};
    made.offsets.reserve(base.size() + left.size() + 1);
    made.offsets.assign(base.offsets.begin(), base.offsets.end());
    const auto append = [&made](TokenId part, std::size_t merge) {
        const auto begin = made.offsets[part];
        const auto size = static_cast<std::size_t>(made.offsets[part + 1] - begin);
        if (size == 0) {
            throw std::invalid_argument("merge " + std::to_string(merge) + ": part " +
                                        std::to_string(part) + " has no bytes");
        }
        const std::size_t end = made.data.size();
        made.data.resize(end + size);
        std::copy_n(made.data.begin() + begin, size,
                    made.data.begin() + static_cast<std::ptrdiff_t>(end));
    };
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::size_t known = base.size() + i;
        if (left[i] >= known || right[i] >= known) {
            throw std::invalid_argument("merge " + std::to_string(i) + ": parts " +
                                        std::to_string(left[i]) + ", " + std::to_string(right[i]) +
                                        " are not earlier tokens");
        }
        append(left[i], i);
        append(right[i], i);
        made.offsets.push_back(static_cast<std::int64_t>(made.data.size()));
    }
    return made;
}

} // namespace jogak
