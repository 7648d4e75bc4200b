// The order of counted pretokens: count descending, then first position. Private to count and
// train.
#pragma once

#include "jogak/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace jogak {

/// Items stay where they are: they are large, their numbers are not.
template <typename Item, typename Before> class CountOrder {
  public:
    explicit CountOrder(std::span<const Item> items, Before before)
        : items_(items), before_(before) {}

    [[nodiscard]] std::vector<std::uint32_t> order() {
        Ends ends{};
        for (const Item& item : items_) {
            ++ends[digit(item)];
        }
        std::size_t sum = 0;
        for (std::size_t& end : ends) {
            sum += std::exchange(end, sum);
        }
        std::vector<std::uint32_t> numbers(items_.size());
        for (std::size_t i = 0; i < items_.size(); ++i) {
            numbers[ends[digit(items_[i])]++] = static_cast<std::uint32_t>(i);
        }
        std::size_t begin = 0;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const std::span<std::uint32_t> equal{numbers.data() + begin, ends[i] - begin};
            if (i == 0 || equal.size() <= few || !sort_by_first(equal)) {
                std::sort(equal.begin(), equal.end(),
                          [this](auto left, auto right) { return precedes(left, right); });
            }
            begin = ends[i];
        }
        return numbers;
    }

  private:
    /// Counts below it, which nearly all pretokens have, are dealt out at once.
    static constexpr Count small_counts = 64;
    static constexpr std::size_t few = 64;
    static constexpr unsigned radix_bits = 11;
    using Ends = std::array<std::size_t, small_counts + 1>;

    static std::size_t digit(const Item& item) {
        return static_cast<std::size_t>(small_counts - std::min(item.count, small_counts));
    }

    [[nodiscard]] bool precedes(std::uint32_t left, std::uint32_t right) const {
        const Item& one = items_[left];
        const Item& other = items_[right];
        if (one.count != other.count) {
            return one.count > other.count;
        }
        return one.first != other.first ? one.first < other.first : before_(one, other);
    }

    /// By the bytes of `first`, the lowest ones first. False where it spans 2^32 or more, or two
    /// items have the same, which only happens where two corpora were merged.
    bool sort_by_first(std::span<std::uint32_t> numbers) {
        std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t highest = 0;
        for (const std::uint32_t number : numbers) {
            lowest = std::min(lowest, items_[number].first);
            highest = std::max(highest, items_[number].first);
        }
        if (highest - lowest > std::numeric_limits<std::uint32_t>::max()) {
            return false;
        }
        keys_.resize(numbers.size());
        other_.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            keys_[i] = (items_[numbers[i]].first - lowest) << 32U | numbers[i];
        }
        for (unsigned shift = 32; shift < 64 && (highest - lowest) >> (shift - 32) != 0;
             shift += radix_bits) {
            deal_out(shift);
        }
        for (std::size_t i = 1; i < keys_.size(); ++i) {
            if (keys_[i] >> 32U == keys_[i - 1] >> 32U) {
                return false;
            }
        }
        std::transform(keys_.begin(), keys_.end(), numbers.begin(),
                       [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
        return true;
    }

    /// Brings keys of one digit together, in order of the digits.
    void deal_out(unsigned shift) {
        constexpr std::size_t mask = (std::size_t{1} << radix_bits) - 1;
        std::array<std::size_t, mask + 1> next{};
        for (const std::uint64_t key : keys_) {
            ++next[key >> shift & mask];
        }
        std::size_t sum = 0;
        for (std::size_t& place : next) {
            sum += std::exchange(place, sum);
        }
        for (const std::uint64_t key : keys_) {
            other_[next[key >> shift & mask]++] = key;
        }
        keys_.swap(other_);
    }

    std::span<const Item> items_;
    Before before_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> other_;
};

/// Returns the numbers of items, which have a `count` and a `first`, by count descending, then
/// first ascending; before(left, right) decides between items equal in both. Linear, but for equal
/// ones. Throws std::invalid_argument for 2^32 items or more.
template <typename Item, typename Before>
[[nodiscard]] std::vector<std::uint32_t> order_by_count(std::span<const Item> items,
                                                        Before before) {
    if (items.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::invalid_argument("there must be fewer than 2^32 distinct pretokens");
    }
    return CountOrder<Item, Before>(items, before).order();
}

} // namespace jogak
