// The order of counted pretokens: count descending, then first position. Private to count and
// train.
#pragma once

#include "jogak/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace jogak {

/// In place, since what is sorted may be most of the memory in use.
template <typename Item, typename Before> class CountSort {
  public:
    explicit CountSort(Before before) : before_(before) {}

    /// Counts below 64, which nearly all pretokens have, are dealt out at once.
    void sort(std::span<Item> items) {
        const auto digit = [](const Item& item) {
            return static_cast<std::size_t>(small_counts - std::min(item.count, small_counts));
        };
        const Ends ends = partition(items, digit);
        std::sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(ends[0]),
                  [this](const Item& left, const Item& right) {
                      return left.count != right.count ? left.count > right.count
                                                       : precedes(left, right);
                  });
        for (std::size_t i = 1; i <= small_counts; ++i) {
            sort_by_first(items.subspan(ends[i - 1], ends[i] - ends[i - 1]));
        }
    }

  private:
    static constexpr unsigned digit_bits = 8;
    static constexpr std::size_t digits = std::size_t{1} << digit_bits;
    static constexpr Count small_counts = 64;
    static constexpr std::size_t few = 32;
    using Ends = std::array<std::size_t, digits>;

    /// Positions are unique within one corpus; they can meet where two corpora were merged.
    bool precedes(const Item& left, const Item& right) const {
        return left.first != right.first ? left.first < right.first : before_(left, right);
    }

    /// By the highest digit that varies, then each group by itself.
    void sort_by_first(std::span<Item> items) {
        std::uint64_t varying = 0;
        if (items.size() > few) {
            for (const Item& item : items) {
                varying |= item.first ^ items.front().first;
            }
        }
        if (varying == 0) {
            std::sort(items.begin(), items.end(), [this](const Item& left, const Item& right) {
                return precedes(left, right);
            });
            return;
        }
        const auto width = static_cast<unsigned>(std::bit_width(varying));
        const unsigned shift = width > digit_bits ? width - digit_bits : 0;
        const Ends ends = partition(items, [shift](const Item& item) {
            return static_cast<std::size_t>(item.first >> shift) & (digits - 1);
        });
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            sort_by_first(items.subspan(begin, end - begin));
            begin = end;
        }
    }

    /// Brings items of one digit together, in order of the digits; returns where each digit ends.
    template <typename Digit> static Ends partition(std::span<Item> items, Digit digit) {
        Ends next{};
        for (const Item& item : items) {
            ++next[digit(item)];
        }
        Ends ends;
        std::size_t sum = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            sum += std::exchange(next[i], sum);
            ends[i] = sum;
        }
        for (std::size_t i = 0; i < digits; ++i) {
            while (next[i] < ends[i]) {
                Item held = items[next[i]];
                for (std::size_t at = digit(held); at != i; at = digit(held)) {
                    std::swap(held, items[next[at]++]);
                }
                items[next[i]++] = held;
            }
        }
        return ends;
    }

    Before before_;
};

/// Sorts items, which have a `count` and a `first`, by count descending, then first ascending;
/// before(left, right) decides between items equal in both. Linear.
template <typename Item, typename Before> void sort_by_count(std::span<Item> items, Before before) {
    CountSort<Item, Before>(before).sort(items);
}

} // namespace jogak
