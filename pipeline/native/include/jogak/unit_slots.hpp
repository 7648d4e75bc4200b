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

/// The last id of a slot shares its 64-bit word with the count, which has the top byte.
inline constexpr unsigned count_shift = 56;
inline constexpr std::uint64_t ids_mask = (std::uint64_t{1} << count_shift) - 1;

/// Four units of up to 7 bytes in one cache line, where most of English and nearly all that is left
/// of Korean after cutting lies. A key is the unit's bytes, zeros, and its length in the last byte;
/// 0 where there is no unit.
struct alignas(64) ShortSet {
    std::uint64_t keys[4];
    std::uint64_t ids[4]; // two ids each
};

/// `words` 64-bit words of key (bytes, zeros, length) and as many of ids, two to a word.
template <std::size_t words> struct alignas(words * 16) CacheSlot {
    std::uint64_t key[words];
    std::uint64_t ids[words];
};
using NarrowSlot = CacheSlot<2>;
using WideSlot = CacheSlot<4>;
static_assert(sizeof(ShortSet) == 64 && sizeof(NarrowSlot) == 32 && sizeof(WideSlot) == 64);

struct HashSeed {
    std::uint64_t low;
    std::uint64_t high;
};

/// The tables of units up to 15 bytes. A set is 64 bytes in both: one ShortSet, two NarrowSlots.
struct UnitTables {
    ShortSet* shorts;
    NarrowSlot* narrows;
    std::size_t short_sets; // below 2^32
    std::size_t narrow_sets;
    HashSeed seed;
};

/// A unit of up to 15 bytes as two words: the last byte of the second is the length. Of one of up
/// to 7 bytes both words together (bitwise or) are its key in a ShortSet.
struct UnitKey {
    std::uint64_t low;
    std::uint64_t high;
};

namespace unit_slots {

struct KeyMasks {
    std::uint64_t of[longest_narrow + 1][2];
};

constexpr KeyMasks make_key_masks() {
    KeyMasks masks{};
    for (std::size_t size = 0; size <= longest_narrow; ++size) {
        const std::size_t low = size < 8 ? size : 8;
        masks.of[size][0] = low == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * low)) - 1;
        masks.of[size][1] = (std::uint64_t{1} << (8 * (size - low))) - 1;
    }
    return masks;
}
inline constexpr KeyMasks key_masks = make_key_masks();

} // namespace unit_slots

/// The first `size` of the 16 readable bytes at `bytes` as a key. Of a longer unit than 15 bytes
/// some value.
[[gnu::always_inline]] [[nodiscard]] inline UnitKey unit_key(const std::uint8_t* bytes,
                                                             std::size_t size) noexcept {
    UnitKey key;
    __builtin_memcpy(&key.low, bytes, 8);
    __builtin_memcpy(&key.high, bytes + 8, 8);
    const std::uint64_t (&masks)[2] =
        unit_slots::key_masks.of[size < longest_narrow ? size : longest_narrow];
    key.low &= masks[0];
    key.high = (key.high & masks[1]) | static_cast<std::uint64_t>(size) << 56;
    return key;
}

[[gnu::always_inline]] [[nodiscard]] inline std::uint64_t hash_key(const UnitKey& key,
                                                                   const HashSeed& seed) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(key.low ^ seed.low) * (key.high ^ seed.high);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The two sets in which a unit belongs are chosen by these bits of its hash. The kernels look into
/// the first only.
inline constexpr unsigned first_choice = 0;
inline constexpr unsigned second_choice = 32;

/// A set in which a unit of up to 15 bytes belongs: a ShortSet or two NarrowSlots. Which of the
/// two tables it is decides no branch, for sizes follow each other as if by chance.
[[gnu::always_inline]] [[nodiscard]] inline void*
unit_set(const UnitTables& tables, const UnitKey& key, std::size_t size, unsigned choice) noexcept {
    const bool is_short = size <= longest_short;
    const std::size_t sets = is_short ? tables.short_sets : tables.narrow_sets;
    void* const base =
        is_short ? static_cast<void*>(tables.shorts) : static_cast<void*>(tables.narrows);
    // Spread over any number of sets, for which a power of two would be too coarse.
    const std::uint64_t hash = hash_key(key, tables.seed) >> choice & 0xFFFFFFFFU;
    return static_cast<char*>(base) + (hash * sets >> 32U) * sizeof(ShortSet);
}

} // namespace jogak
