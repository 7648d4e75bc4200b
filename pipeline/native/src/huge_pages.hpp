// Large arrays that are read at random places. Private to count and train.
#pragma once

#include <cstddef>

namespace jogak {

/// Asks the system for large pages behind a block that malloc gave, where it is large and the
/// system knows how: a miss of the address cache costs as much as one of the data cache, and a new
/// array is touched for the first time in 2 MB pieces instead of 4 KB ones. A hint: nothing fails.
void prefer_huge_pages(void* block, std::size_t bytes) noexcept;

} // namespace jogak
