#include "count_first.hpp"

#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace jogak {

namespace {

/// Fewer are sorted by comparison.
constexpr std::size_t few = 64;
constexpr unsigned most_digit_bits = 11;

void sort_by_digit(const std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& sorted,
                   unsigned shift, unsigned bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    std::array<std::uint32_t, std::size_t{1} << most_digit_bits> next;
    std::fill_n(next.begin(), mask + 1, 0U);
    for (const std::uint64_t key : keys) {
        ++next[key >> shift & mask];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& place : std::span(next).first(mask + 1)) {
        sum += std::exchange(place, sum);
    }
    for (const std::uint64_t key : keys) {
        sorted[next[key >> shift & mask]++] = key;
    }
}

/// Sorts in linear time. False where positions span 2^32 or more, or two are equal.
bool sort_by_digits(std::span<const Slot> slots, std::vector<std::uint32_t>& order) {
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t highest = 0;
    for (const Slot& slot : slots) {
        lowest = std::min(lowest, slot.first);
        highest = std::max(highest, slot.first);
    }
    const auto bits = static_cast<unsigned>(std::bit_width(highest - lowest));
    if (bits > 32) {
        return false;
    }
    std::vector<std::uint64_t> keys(slots.size());
    std::vector<std::uint64_t> sorted(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        keys[i] = (slots[i].first - lowest) << 32U | i;
    }
    const unsigned digits = std::max(1U, (bits + most_digit_bits - 1) / most_digit_bits);
    const unsigned digit_bits = (bits + digits - 1) / digits;
    for (unsigned digit = 0; digit < digits; ++digit) {
        sort_by_digit(keys, sorted, 32 + digit * digit_bits, digit_bits);
        keys.swap(sorted);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0 && keys[i] >> 32U == keys[i - 1] >> 32U) {
            return false;
        }
        order[i] = static_cast<std::uint32_t>(keys[i]);
    }
    return true;
}

} // namespace

std::vector<std::uint32_t> order_by_first(std::span<const Slot> slots, const Ranges& ranges) {
    std::vector<std::uint32_t> order(slots.size());
    if (slots.size() > few && sort_by_digits(slots, order)) {
        return order;
    }
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
        const Slot& one = slots[left];
        const Slot& other = slots[right];
        return one.first != other.first ? one.first < other.first
                                        : ranges.text(one) < ranges.text(other);
    });
    return order;
}

} // namespace jogak
