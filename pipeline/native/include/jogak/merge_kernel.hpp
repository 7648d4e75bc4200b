// Merging one unit: the adjacent pair whose result is the lowest symbol, leftmost first, until no
// adjacent pair can merge. See merge_table.hpp for why the lowest symbol is the next merge.
#pragma once

#include "jogak/merge_table.hpp"

#include <array>
#include <vector>

namespace jogak {

/// Working memory of merges of any length; grows with the longest unit met.
struct MergeScratch {
    std::vector<Symbol> symbols;
    std::vector<Symbol> joined;
    std::vector<std::uint32_t> previous;
    std::vector<std::uint32_t> next;
    std::vector<std::uint64_t> queue;
};

/// Up to here a scan for the lowest pair beats a queue.
inline constexpr std::size_t longest_scanned = 32;

/// The symbols of a short unit, with room around them: `symbols` may be written up to `count`.
struct ShortUnit {
    std::array<Symbol, longest_scanned + 3> padded;

    [[nodiscard]] Symbol* symbols() noexcept { return padded.data() + 1; }
};

/// Merges the first `count` (1 to longest_scanned) symbols in place and returns how many remain.
/// O(count^2).
std::size_t merge_by_scan(const MergeTable& table, ShortUnit& unit, std::size_t count) noexcept;

/// The same with a queue, for any count below 2^32 - 1: O(count log count) time, 28 bytes of
/// scratch a symbol.
std::size_t merge_by_queue(const MergeTable& table, Symbol* symbols, std::size_t count,
                           MergeScratch& scratch);

} // namespace jogak
