// merge_list: the merges of a tokenizer file, from text to ids.
#pragma once

#include "jogak/text.hpp"

#include <string_view>
#include <vector>

namespace jogak {

/// Merges as a file spells them: each two parts, apart by `inner`, and merges apart by `outer`
/// (which may be the same); neither occurs otherwise. A part that is empty is no token.
struct MergeText {
    std::string_view text;
    std::string_view outer;
    std::string_view inner;
    std::size_t count = 0;
    /// What the right part loses where it is joined to the left one (`##`), in characters.
    std::size_t prefix_characters = 0;
};

inline constexpr TokenId missing_token = 0xFFFFFFFF;

/// Returns left, right and result of each merge as ids, missing_token where there is no such
/// token. `tokens` are the vocabulary's, apart by `separator`, and `ids` theirs, in this order.
/// Throws std::invalid_argument where the texts do not have the form said. Linear in the text.
[[nodiscard]] std::vector<TokenId> merge_ids(std::string_view tokens, std::string_view separator,
                                             std::span<const TokenId> ids, const MergeText& merges);

/// The bytes of all ids, those of `base` first, end to end: id i is data[offsets[i],
/// offsets[i + 1]).
struct TokenBytes {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets;
};

/// Joins the parts of each merge; merge i makes id base.size() + i. Throws std::invalid_argument
/// where a part is no id made earlier, or one without bytes. Linear in the result.
[[nodiscard]] TokenBytes join_merges(const Documents& base, std::span<const TokenId> left,
                                     std::span<const TokenId> right);

} // namespace jogak
