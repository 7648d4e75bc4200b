// The order of slots by first position. Private to count.
#pragma once

#include "count_ranges.hpp"

#include <vector>

namespace jogak {

/// Returns the numbers of slots by first position; what is equal in it, which only happens where
/// two corpora were merged, by bytes. Linear but for that, and for positions that span 2^32 or
/// more.
[[nodiscard]] std::vector<std::uint32_t> order_by_first(std::span<const Slot> slots,
                                                        const Ranges& ranges);

} // namespace jogak
