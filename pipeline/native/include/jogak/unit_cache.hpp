// The ids of units (pretokens, or what cutting makes of them) met before: tables of fixed size, a
// cache line or two to a set. No growth, no wiping, and no probe beyond a set, whatever the text.
//
// Sets are chosen by a hash with a seed of the process, so nobody can prepare text whose units meet
// in one set. What came first stays, being more likely common than what comes later, and new units
// replace each other behind it; but one insertion in eight into a full set moves the last of them
// to an earlier place, so that text of another kind finds its own.
#pragma once

#include "jogak/hashing.hpp"
#include "jogak/page_array.hpp"
#include "jogak/text.hpp"
#include "jogak/unit_slots.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace jogak {

struct CacheSizes {
    std::size_t short_slots;  // a multiple of 4
    std::size_t narrow_slots; // a multiple of 2
    std::size_t wide_slots;   // a power of two, at least 2
};

/// The last id of a slot shares its word with the count.
inline constexpr TokenId largest_packed_id = 0x00FFFFFF;

using WideKey = std::array<std::uint64_t, 4>;

/// The `size` (1-31) bytes at `bytes` as a key; reads no further.
[[nodiscard]] inline WideKey wide_key(const std::uint8_t* bytes, std::size_t size) noexcept {
    std::array<std::uint8_t, 32> padded{};
    std::memcpy(padded.data(), bytes, size);
    padded[31] = static_cast<std::uint8_t>(size);
    return {load64(padded.data()), load64(padded.data() + 8), load64(padded.data() + 16),
            load64(padded.data() + 24)};
}

/// Whether the words of one slot have room for these ids and their count.
[[nodiscard]] inline bool fit_slot(std::span<const TokenId> ids, std::size_t most) noexcept {
    return ids.size() < most || (ids.size() == most && ids.back() <= largest_packed_id);
}

/// Writes ids into the words of a slot that they fit.
inline void pack_ids(std::span<const TokenId> ids, std::span<std::uint64_t> words) noexcept {
    std::ranges::fill(words, 0);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        words[i / 2] |= static_cast<std::uint64_t>(ids[i]) << (32 * (i % 2));
    }
    words.back() |= static_cast<std::uint64_t>(ids.size()) << count_shift;
}

/// Writes all ids a slot has room for (2 * words, whatever its count) and returns the count.
template <std::size_t words>
std::size_t unpack_ids(const std::uint64_t (&ids)[words], TokenId* out) noexcept {
    std::uint64_t cleared[words];
    std::copy_n(ids, words, cleared);
    cleared[words - 1] &= ids_mask;
    std::memcpy(out, cleared, sizeof cleared);
    return ids[words - 1] >> count_shift;
}

/// A unit belongs in one of two sets, so that full sets are rare although sets are small.
template <class Set> struct Places {
    Set* first;
    Set* second;
};

/// Not thread-safe: each call of encode has one to itself.
class UnitCache {
  public:
    UnitCache(const CacheSizes& sizes, const HashSeed& seed)
        : shorts_(sizes.short_slots / 4), narrows_(sizes.narrow_slots), wides_(sizes.wide_slots),
          tables_{shorts_.data(), narrows_.data(), sizes.short_slots / 4, sizes.narrow_slots / 2,
                  seed},
          wide_mask_(sizes.wide_slots / 2 - 1) {}

    [[nodiscard]] const UnitTables& tables() const noexcept { return tables_; }

    /// Where a unit of up to 7, 15 or 31 bytes belongs. A place of the last two is two slots.
    [[nodiscard]] Places<ShortSet> short_places(const UnitKey& key) const noexcept {
        return places<ShortSet>(key, longest_short);
    }
    [[nodiscard]] Places<NarrowSlot> narrow_places(const UnitKey& key) const noexcept {
        return places<NarrowSlot>(key, longest_narrow);
    }
    [[nodiscard]] Places<WideSlot> wide_places(const WideKey& key) noexcept {
        const HashSeed& seed = tables_.seed;
        const std::uint64_t half = fold_product(key[0] ^ seed.low, key[1] ^ seed.high);
        const std::uint64_t hash =
            fold_product(key[2] ^ seed.high ^ half, key[3] ^ seed.low ^ hash_constant_b);
        return {wides_.data() + 2 * (hash >> first_choice & wide_mask_),
                wides_.data() + 2 * (hash >> second_choice & wide_mask_)};
    }

    /// Writes the ids of a unit to `out`, which has room for all that a slot holds; 0: unknown.
    [[nodiscard]] static std::size_t find(const Places<ShortSet>& places, const UnitKey& key,
                                          TokenId* out) noexcept {
        for (const ShortSet* set : {places.first, places.second}) {
            for (std::size_t way = 0; way < 4; ++way) {
                if (set->keys[way] == (key.low | key.high)) {
                    const std::uint64_t ids[1] = {set->ids[way]};
                    return unpack_ids(ids, out);
                }
            }
        }
        return 0;
    }
    template <std::size_t words>
    [[nodiscard]] static std::size_t find(const Places<CacheSlot<words>>& places,
                                          const std::array<std::uint64_t, words>& key,
                                          TokenId* out) noexcept {
        for (const CacheSlot<words>* set : {places.first, places.second}) {
            for (std::size_t way = 0; way < 2; ++way) {
                if (std::ranges::equal(set[way].key, key)) {
                    return unpack_ids(set[way].ids, out);
                }
            }
        }
        return 0;
    }

    /// Puts ids under a key; false when they do not fit.
    bool insert(const Places<ShortSet>& places, const UnitKey& key,
                std::span<const TokenId> ids) noexcept {
        if (!fit_slot(ids, most_short_ids)) {
            return false;
        }
        const auto [set, way] = choose(
            places, 4, [](const ShortSet* place, std::size_t i) { return place->keys[i] == 0; });
        if (set->keys[way] != 0 && renews()) {
            const std::size_t earlier = replaced_ / renewal % 3;
            set->keys[earlier] = set->keys[3];
            set->ids[earlier] = set->ids[3];
        }
        set->keys[way] = key.low | key.high;
        pack_ids(ids, {&set->ids[way], 1});
        return true;
    }
    template <std::size_t words>
    bool insert(const Places<CacheSlot<words>>& places, const std::array<std::uint64_t, words>& key,
                std::span<const TokenId> ids) noexcept {
        if (!fit_slot(ids, 2 * words)) {
            return false;
        }
        // A length is in the last word of every key.
        const auto [set, way] = choose(places, 2, [](const CacheSlot<words>* place, std::size_t i) {
            return place[i].key[words - 1] == 0;
        });
        if (set[way].key[words - 1] != 0 && renews()) {
            set[0] = set[1];
        }
        std::ranges::copy(key, set[way].key);
        pack_ids(ids, set[way].ids);
        return true;
    }

    [[nodiscard]] static std::size_t memory_bytes(const CacheSizes& sizes) noexcept {
        return sizes.short_slots / 4 * sizeof(ShortSet) + sizes.narrow_slots * sizeof(NarrowSlot) +
               sizes.wide_slots * sizeof(WideSlot);
    }

  private:
    static constexpr std::uint32_t renewal = 8;

    template <class Set>
    [[nodiscard]] Places<Set> places(const UnitKey& key, std::size_t size) const noexcept {
        return {static_cast<Set*>(unit_set(tables_, key, size, first_choice)),
                static_cast<Set*>(unit_set(tables_, key, size, second_choice))};
    }

    /// The first empty way of both sets, else the last one of the first set.
    template <class Set, class IsEmpty>
    [[nodiscard]] static std::pair<Set*, std::size_t>
    choose(const Places<Set>& places, std::size_t ways, IsEmpty is_empty) noexcept {
        for (Set* set : {places.first, places.second}) {
            for (std::size_t way = 0; way < ways; ++way) {
                if (is_empty(set, way)) {
                    return {set, way};
                }
            }
        }
        return {places.first, ways - 1};
    }

    [[nodiscard]] bool renews() noexcept { return ++replaced_ % renewal == 0; }

    PageArray<ShortSet> shorts_;
    PageArray<NarrowSlot> narrows_;
    PageArray<WideSlot> wides_;
    UnitTables tables_;
    std::size_t wide_mask_;
    std::uint32_t replaced_ = 0;
};

} // namespace jogak
