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
#include <random>
#include <utility>

namespace jogak {

struct CacheSizes {
    std::size_t short_slots;  // a multiple of 4
    std::size_t narrow_slots; // a multiple of 2
    std::size_t wide_slots;   // a multiple of 2
};

/// What leaves room for the count in a word of ids.
inline constexpr TokenId largest_packed_id = 0x00FFFFFF;

/// Whether the words of one slot have room for these ids and their count.
[[nodiscard]] inline bool fit_slot(std::span<const TokenId> ids, std::size_t most) noexcept {
    return ids.size() <= most &&
           std::ranges::all_of(ids, [](TokenId id) { return id <= largest_packed_id; });
}

/// Writes ids into the words of a slot that they fit.
inline void pack_ids(std::span<const TokenId> ids, std::span<std::uint64_t> words) noexcept {
    std::ranges::fill(words, 0);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        words[i / 2] |= static_cast<std::uint64_t>(ids[i]) << (32 * (i % 2));
    }
    words.back() |= static_cast<std::uint64_t>(ids.size()) << count_shift;
}

/// A seed that nobody can know who prepares text.
[[nodiscard]] inline HashSeed draw_seed() {
    std::random_device source;
    const auto draw = [&source] {
        return static_cast<std::uint64_t>(source()) << 32 | source() | 1U;
    };
    const std::uint64_t low = draw();
    return {low, draw()};
}

/// unit_key of `size` bytes of which no more can be read.
[[nodiscard]] inline UnitKey exact_unit_key(const std::uint8_t* bytes, std::size_t size) noexcept {
    std::array<std::uint8_t, 16> padded{};
    std::memcpy(padded.data(), bytes, std::min(size, longest_narrow));
    return unit_key(padded.data(), size);
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
          tables_{{{reinterpret_cast<char*>(shorts_.data()), sizes.short_slots / 4},
                   {reinterpret_cast<char*>(narrows_.data()), sizes.narrow_slots / 2}},
                  seed,
                  wides_.data(),
                  sizes.wide_slots / 2} {}

    [[nodiscard]] const UnitTables& tables() const noexcept { return tables_; }

    /// Where a unit of up to 7, 15 or 31 bytes belongs. A place of the last two is two slots.
    [[nodiscard]] Places<ShortSet> short_places(const UnitKey& key) const noexcept {
        return places<ShortSet>(key, 0);
    }
    [[nodiscard]] Places<NarrowSlot> narrow_places(const UnitKey& key) const noexcept {
        return places<NarrowSlot>(key, 1);
    }
    [[nodiscard]] Places<WideSlot> wide_places(const WideKey& key) const noexcept {
        return {wide_set(tables_, key, first_choice), wide_set(tables_, key, second_choice)};
    }

    /// Puts the ids of a unit of up to 31 bytes where find_unit finds them. One with more ids than
    /// its slots hold goes into the table for units of twice its length, and a mark in its place
    /// says so; one with too many for any table is left out.
    void insert(const UnitKey& key, const std::uint8_t* bytes, std::size_t size,
                std::span<const TokenId> ids) noexcept {
        constexpr std::array<TokenId, 1> some{0};
        const UnitKey elsewhere = mark_elsewhere(key);
        if (size <= longest_short) {
            if (fit_slot(ids, most_short_ids)) {
                insert_short(short_places(key), key.high, ids);
                return;
            }
            insert_short(short_places(key), elsewhere.high, some);
        }
        if (size <= longest_narrow) {
            if (fit_slot(ids, most_narrow_ids)) {
                insert_slot(narrow_places(key), {key.low, key.high}, ids);
                return;
            }
            insert_slot(narrow_places(key), {elsewhere.low, elsewhere.high}, some);
        }
        insert_wide(wide_key(key, bytes, size), ids);
    }
    void insert_wide(const WideKey& key, std::span<const TokenId> ids) noexcept {
        if (fit_slot(ids, most_wide_ids)) {
            insert_slot(wide_places(key), key.words, ids);
        }
    }

    [[nodiscard]] static std::size_t memory_bytes(const CacheSizes& sizes) noexcept {
        return sizes.short_slots / 4 * sizeof(ShortSet) + sizes.narrow_slots * sizeof(NarrowSlot) +
               sizes.wide_slots * sizeof(WideSlot);
    }

  private:
    static constexpr std::uint32_t renewal = 8;

    void insert_short(const Places<ShortSet>& places, std::uint64_t key,
                      std::span<const TokenId> ids) noexcept {
        const auto [set, way] = choose(places, 4, [](const ShortSet* place, std::size_t i) {
            return place->slots[i].key == 0;
        });
        if (set->slots[way].key != 0 && renews()) {
            set->slots[replaced_ / renewal % 3] = set->slots[3];
        }
        set->slots[way].key = key;
        pack_ids(ids, {&set->slots[way].ids, 1});
    }
    template <std::size_t words>
    void insert_slot(const Places<CacheSlot<words>>& places, const std::uint64_t (&key)[words],
                     std::span<const TokenId> ids) noexcept {
        // A length is in the last word of every key.
        const auto [set, way] = choose(places, 2, [](const CacheSlot<words>* place, std::size_t i) {
            return place[i].key[words - 1] == 0;
        });
        if (set[way].key[words - 1] != 0 && renews()) {
            set[0] = set[1];
        }
        std::ranges::copy(key, set[way].key);
        pack_ids(ids, set[way].ids);
    }

    template <class Set>
    [[nodiscard]] Places<Set> places(const UnitKey& key, std::size_t kind) const noexcept {
        return {reinterpret_cast<Set*>(unit_set(tables_, key, kind, first_choice)),
                reinterpret_cast<Set*>(unit_set(tables_, key, kind, second_choice))};
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
    std::uint32_t replaced_ = 0;
};

} // namespace jogak
