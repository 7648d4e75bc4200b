// How the cache of units lies in memory, and the hash that finds a unit's place: what the cache and
// the kernels of src/simd share. Included by those, so nothing of the standard library but integers
// and memcpy may come in here, and every function is inlined (see tests/packaging).
#pragma once

#include <cstddef>
#include <cstdint>

namespace jogak {

inline constexpr std::size_t longest_short = 7;
inline constexpr std::size_t longest_narrow = 15;
inline constexpr std::size_t longest_wide = 31;
inline constexpr std::size_t most_short_ids = 2;
inline constexpr std::size_t most_narrow_ids = 4;
inline constexpr std::size_t most_wide_ids = 8;

/// The last id of a slot shares its 64-bit word with the count, which has the top byte; no id in a
/// slot uses that byte.
inline constexpr unsigned count_shift = 56;
inline constexpr std::uint64_t ids_mask = (std::uint64_t{1} << count_shift) - 1;

/// Four units of up to 7 bytes in one cache line, where most of English and nearly all that is left
/// of Korean after cutting lies.
struct alignas(64) ShortSet {
    struct Slot {
        std::uint64_t ids; // two of them
        std::uint64_t key; // the second word of a UnitKey; 0: no unit
    } slots[4];
};

/// `words` 64-bit words of key and as many of ids, two to a word.
template <std::size_t words> struct alignas(words * 16) CacheSlot {
    std::uint64_t key[words];
    std::uint64_t ids[words];
};
using NarrowSlot = CacheSlot<2>;
using WideSlot = CacheSlot<4>;
static_assert(sizeof(ShortSet) == 64 && sizeof(NarrowSlot) == 32 && sizeof(WideSlot) == 64);

/// Two secret odd numbers.
struct HashSeed {
    std::uint64_t low;
    std::uint64_t high;
};

/// Sets of 64 bytes: each one ShortSet, or two NarrowSlots. Fewer than 2^32.
struct UnitTable {
    char* sets;
    std::size_t count;
};

/// The tables of units of up to 7, 15 and 31 bytes.
struct UnitTables {
    UnitTable of[2]; // by unit_kind
    HashSeed seed;
    WideSlot* wides; // two to a set
    std::size_t wide_sets;
};

/// A unit of up to 15 bytes as two words. The second has the length as its last byte, and before it
/// zeros; before those the unit's bytes, or what is left of them where the first word has the first
/// eight. Of a unit of up to 7 bytes the first word is 0.
struct UnitKey {
    std::uint64_t low;
    std::uint64_t high;
};

/// A unit of up to 31 bytes; its length is in the last word.
struct WideKey {
    std::uint64_t words[4];
};

namespace unit_slots {

struct Masks {
    std::uint64_t of[8];
};
constexpr Masks make_masks() {
    Masks masks{};
    for (std::size_t size = 0; size < 8; ++size) {
        masks.of[size] = (std::uint64_t{1} << (8 * size)) - 1;
    }
    return masks;
}
inline constexpr Masks first_bytes = make_masks();

} // namespace unit_slots

[[gnu::always_inline]] [[nodiscard]] inline std::uint64_t
load_word(const std::uint8_t* bytes) noexcept {
    std::uint64_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    return word;
}

/// Which of the tables a unit belongs in: 0 up to 7 bytes, 1 up to 15; of longer ones 0.
[[gnu::always_inline]] [[nodiscard]] constexpr std::size_t unit_kind(std::size_t size) noexcept {
    return (size <= longest_narrow ? size : longest_narrow + 1) >> 3U & 1U;
}

/// The first `size` of the 16 readable bytes at `bytes` as a key. Of a longer unit than 15 bytes a
/// key that no unit has. Without a branch, for sizes follow each other as if by chance.
[[gnu::always_inline]] [[nodiscard]] inline UnitKey unit_key(const std::uint8_t* bytes,
                                                             std::size_t size) noexcept {
    const std::size_t known = size <= longest_narrow ? size : longest_narrow + 1;
    const std::size_t begun = known & 8U;
    const std::uint64_t rest = load_word(bytes + begun) & unit_slots::first_bytes.of[known & 7U];
    return {load_word(bytes) & (0 - static_cast<std::uint64_t>(begun >> 3U)),
            rest | static_cast<std::uint64_t>(known) << 56U};
}

/// The key of a unit of up to 31 bytes, whose key as one of up to 15 bytes is `narrow`.
[[gnu::always_inline]] [[nodiscard]] inline WideKey
wide_key(const UnitKey& narrow, const std::uint8_t* bytes, std::size_t size) noexcept {
    if (size <= longest_narrow) {
        return {{narrow.low, narrow.high, 0, size}};
    }
    // The first and the last 16 bytes; one that both hold gives way to the length.
    return {{load_word(bytes), load_word(bytes + 8), load_word(bytes + size - 8),
             (load_word(bytes + size - 16) & ~std::uint64_t{0xFF}) | size}};
}

[[gnu::always_inline]] [[nodiscard]] inline std::uint64_t fold_words(std::uint64_t a,
                                                                     std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The two sets in which a unit belongs; the kernels look into the first before all else.
inline constexpr unsigned first_choice = 0;
inline constexpr unsigned second_choice = 32;
inline constexpr unsigned both_choices[2] = {first_choice, second_choice};

/// Spreads the low 32 bits of a hash over any number of sets, for which a power of two would be too
/// coarse.
[[gnu::always_inline]] [[nodiscard]] inline std::size_t choose_set(std::uint64_t hash,
                                                                   std::size_t sets) noexcept {
    return (hash & 0xFFFFFFFFU) * sets >> 32U;
}

/// A set in which a unit of up to 15 bytes belongs: a ShortSet, or two NarrowSlots if `kind` is 1.
[[gnu::always_inline]] [[nodiscard]] inline char*
unit_set(const UnitTables& tables, const UnitKey& key, std::size_t kind, unsigned choice) noexcept {
    const HashSeed& seed = tables.seed;
    // The first choice is made for every unit, so it takes what vectors have too: the high half of
    // a sum of products, whose collisions nobody can prepare who does not know the odd factors.
    const std::uint64_t hash = choice == first_choice
                                   ? (key.low * seed.low + key.high * seed.high) >> 32U
                                   : fold_words(key.low ^ seed.low, key.high ^ seed.high);
    const UnitTable& table = tables.of[kind];
    return table.sets + choose_set(hash, table.count) * sizeof(ShortSet);
}

[[gnu::always_inline]] [[nodiscard]] inline WideSlot*
wide_set(const UnitTables& tables, const WideKey& key, unsigned choice) noexcept {
    const HashSeed& seed = tables.seed;
    const std::uint64_t half = fold_words(key.words[0] ^ seed.low, key.words[1] ^ seed.high);
    const std::uint64_t hash =
        fold_words(key.words[2] ^ seed.high ^ half, key.words[3] ^ seed.low ^ 0xe7037ed1a0b428dbU);
    return tables.wides + 2 * choose_set(hash >> choice, tables.wide_sets);
}

/// The key under which the place of a unit says that its ids are in the next table.
[[gnu::always_inline]] [[nodiscard]] inline UnitKey mark_elsewhere(const UnitKey& key) noexcept {
    return {key.low, key.high | std::uint64_t{1} << 63U};
}

/// Writes all ids that `words` words have room for, whatever their count, which is returned.
template <std::size_t words>
[[gnu::always_inline]] inline std::size_t take_ids(const std::uint64_t* ids,
                                                   std::uint32_t* out) noexcept {
    std::uint64_t cleared[words];
    for (std::size_t i = 0; i < words; ++i) {
        cleared[i] = ids[i] & ids_mask;
    }
    __builtin_memcpy(out, cleared, sizeof cleared);
    return ids[words - 1] >> count_shift;
}

/// The two slots of a set, searched for a key.
template <std::size_t words>
[[gnu::always_inline]] [[nodiscard]] inline const CacheSlot<words>*
find_slot(const CacheSlot<words>* set, const std::uint64_t (&key)[words]) noexcept {
    for (std::size_t way = 0; way < 2; ++way) {
        std::uint64_t difference = 0;
        for (std::size_t i = 0; i < words; ++i) {
            difference |= set[way].key[i] ^ key[i];
        }
        if (difference == 0) {
            return set + way;
        }
    }
    return nullptr;
}

/// The ids of a unit of up to 31 bytes: how many there are, 0 if the tables do not know it. `out`
/// has room for `most_wide_ids`.
[[gnu::always_inline]] inline std::size_t find_wide(const UnitTables& tables, const WideKey& key,
                                                    std::uint32_t* out) noexcept {
    for (const unsigned choice : both_choices) {
        if (const WideSlot* slot = find_slot(wide_set(tables, key, choice), key.words)) {
            return take_ids<4>(slot->ids, out);
        }
    }
    return 0;
}

/// The same of a unit of up to 15 bytes, in the table for those of 8 and more.
[[gnu::always_inline]] inline std::size_t find_narrow(const UnitTables& tables, const UnitKey& key,
                                                      std::size_t size,
                                                      std::uint32_t* out) noexcept {
    const std::uint64_t sought[2] = {key.low, key.high};
    const std::uint64_t mark[2] = {key.low, mark_elsewhere(key).high};
    bool moved = false;
    for (const unsigned choice : both_choices) {
        const auto* set = reinterpret_cast<NarrowSlot*>(unit_set(tables, key, 1, choice));
        if (const NarrowSlot* slot = find_slot(set, sought)) {
            return take_ids<2>(slot->ids, out);
        }
        moved |= find_slot(set, mark) != nullptr;
    }
    return moved ? find_wide(tables, wide_key(key, nullptr, size), out) : 0;
}

/// The same of a unit of up to 31 bytes, wherever it can be. Reads `bytes` of units longer than 15
/// bytes only.
[[gnu::always_inline]] inline std::size_t find_unit(const UnitTables& tables, const UnitKey& key,
                                                    const std::uint8_t* bytes, std::size_t size,
                                                    std::uint32_t* out) noexcept {
    if (size > longest_narrow) {
        return find_wide(tables, wide_key(key, bytes, size), out);
    }
    if (size > longest_short) {
        return find_narrow(tables, key, size, out);
    }
    bool moved = false;
    for (const unsigned choice : both_choices) {
        const auto& set = *reinterpret_cast<ShortSet*>(unit_set(tables, key, 0, choice));
        for (const ShortSet::Slot& slot : set.slots) {
            if (slot.key == key.high) {
                return take_ids<1>(&slot.ids, out);
            }
            moved |= slot.key == mark_elsewhere(key).high;
        }
    }
    return moved ? find_narrow(tables, key, size, out) : 0;
}

} // namespace jogak
