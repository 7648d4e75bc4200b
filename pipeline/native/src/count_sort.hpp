// The order of counted pretokens: count descending, then first position. Private to count.
#pragma once

#include "jogak/text.hpp"

#include <functional>
#include <vector>

namespace jogak {

struct SortEntry {
    Count count;
    std::uint64_t first;
    std::uint64_t item; // what is sorted, e.g. a slot's index
};

/// Sorts by count descending, then first ascending; `before` decides between items equal in both.
/// Linear: a radix sort by position, then one pass that deals out the small counts, which nearly
/// all pretokens have.
void sort_by_count(std::vector<SortEntry>& entries,
                   const std::function<bool(std::uint64_t, std::uint64_t)>& before);

} // namespace jogak
