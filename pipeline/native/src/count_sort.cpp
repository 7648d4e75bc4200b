#include "count_sort.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace jogak {

namespace {

constexpr unsigned digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr Count small_counts = 64;

/// Least significant digit first; digits that are the same everywhere are skipped.
void radix_sort_by_first(std::vector<SortEntry>& entries) {
    std::uint64_t varying = 0;
    for (const SortEntry& entry : entries) {
        varying |= entry.first ^ entries.front().first;
    }
    std::vector<SortEntry> other(entries.size());
    for (unsigned shift = 0; shift < 64; shift += digit_bits) {
        if (((varying >> shift) & (digits - 1)) == 0) {
            continue;
        }
        std::array<std::size_t, digits> starts{};
        const auto digit = [shift](const SortEntry& entry) {
            return static_cast<std::size_t>(entry.first >> shift) & (digits - 1);
        };
        for (const SortEntry& entry : entries) {
            ++starts[digit(entry)];
        }
        std::size_t sum = 0;
        for (std::size_t& start : starts) {
            sum += std::exchange(start, sum);
        }
        for (const SortEntry& entry : entries) {
            other[starts[digit(entry)]++] = entry;
        }
        entries.swap(other);
    }
}

/// Stable: large counts first, in their present order, then small_counts - 1 down to 0.
std::size_t deal_out_small_counts(std::vector<SortEntry>& entries) {
    std::array<std::size_t, small_counts + 1> starts{};
    const auto place = [](const SortEntry& entry) {
        return static_cast<std::size_t>(small_counts - std::min(entry.count, small_counts));
    };
    for (const SortEntry& entry : entries) {
        ++starts[place(entry)];
    }
    const std::size_t large = starts[0];
    std::size_t sum = 0;
    for (std::size_t& start : starts) {
        sum += std::exchange(start, sum);
    }
    std::vector<SortEntry> dealt(entries.size());
    for (const SortEntry& entry : entries) {
        dealt[starts[place(entry)]++] = entry;
    }
    entries.swap(dealt);
    return large;
}

} // namespace

void sort_by_count(std::vector<SortEntry>& entries,
                   const std::function<bool(std::uint64_t, std::uint64_t)>& before) {
    radix_sort_by_first(entries);
    const auto large = static_cast<std::ptrdiff_t>(deal_out_small_counts(entries));
    std::stable_sort(
        entries.begin(), entries.begin() + large,
        [](const SortEntry& left, const SortEntry& right) { return left.count > right.count; });
    // Positions are unique within one corpus; they can meet where two corpora were merged.
    for (std::size_t begin = 0; begin < entries.size();) {
        std::size_t end = begin + 1;
        while (end < entries.size() && entries[end].count == entries[begin].count &&
               entries[end].first == entries[begin].first) {
            ++end;
        }
        if (end - begin > 1) {
            std::sort(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                      entries.begin() + static_cast<std::ptrdiff_t>(end),
                      [&before](const SortEntry& left, const SortEntry& right) {
                          return before(left.item, right.item);
                      });
        }
        begin = end;
    }
}

} // namespace jogak
