// The ids of units longer than 31 bytes that were met lately: runs of white space and of dashes,
// long names in code. They are few, but to merge one takes microseconds.
//
// A table of fixed size with one place for each unit, chosen by a hash with the seed of the other
// caches; what comes later takes the place.
#pragma once

#include "jogak/hashing.hpp"
#include "jogak/text.hpp"
#include "jogak/unit_slots.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace jogak {

inline constexpr std::size_t longest_kept = 120;
inline constexpr std::size_t most_kept_ids = 32;
inline constexpr std::size_t long_slots = 512;

/// Not thread-safe: each call of encode has one to itself.
class LongUnits {
  public:
    explicit LongUnits(const HashSeed& seed) : seed_(seed), slots_(long_slots) {}

    /// The ids of a unit of 32 bytes or more; none if they are not known.
    [[nodiscard]] std::span<const TokenId> find(std::span<const std::uint8_t> unit) const noexcept {
        if (unit.size() > longest_kept) {
            return {};
        }
        const Slot& slot = slots_[place(unit)];
        const bool is_same = slot.size == unit.size() &&
                             std::memcmp(slot.bytes.data(), unit.data(), unit.size()) == 0;
        return {slot.ids.data(), is_same ? slot.count : 0};
    }

    /// Keeps the ids of a unit, unless it or they are too long.
    void insert(std::span<const std::uint8_t> unit, std::span<const TokenId> ids) noexcept {
        if (unit.size() > longest_kept || ids.size() > most_kept_ids) {
            return;
        }
        Slot& slot = slots_[place(unit)];
        slot.size = static_cast<std::uint32_t>(unit.size());
        slot.count = static_cast<std::uint32_t>(ids.size());
        std::ranges::copy(unit, slot.bytes.begin());
        std::ranges::copy(ids, slot.ids.begin());
    }

    [[nodiscard]] static std::size_t memory_bytes() noexcept { return long_slots * sizeof(Slot); }

  private:
    struct alignas(64) Slot {
        std::uint32_t size;
        std::uint32_t count;
        std::array<std::uint8_t, longest_kept> bytes;
        std::array<TokenId, most_kept_ids> ids;
    };
    static_assert(sizeof(Slot) == 256);

    [[nodiscard]] std::size_t place(std::span<const std::uint8_t> unit) const noexcept {
        const std::uint8_t* end = unit.data() + unit.size();
        std::uint64_t state = unit.size() ^ seed_.low;
        for (const std::uint8_t* at = unit.data(); at + 16 < end; at += 16) {
            state = fold_product(load64(at) ^ state, load64(at + 8) ^ seed_.high);
        }
        return fold_product(load64(end - 16) ^ state, load64(end - 8) ^ seed_.high) % long_slots;
    }

    HashSeed seed_;
    std::vector<Slot> slots_;
};

} // namespace jogak
