// The ids of units (pretokens, or what cutting makes of them) met before: two tables of fixed size,
// two slots to a set. No growth, no wiping, and no probe beyond a set, whatever the text.
//
// A key is the unit's bytes, zeros, and its length in the last byte. Sets are chosen by a hash with
// a seed of the process, so nobody can prepare text whose units meet in one set.
#pragma once

#include "jogak/hashing.hpp"
#include "jogak/page_array.hpp"
#include "jogak/text.hpp"

#include <array>

namespace jogak {

struct CacheSizes {
    std::size_t narrow_slots; // powers of two, at least 2
    std::size_t wide_slots;
};

struct HashSeed {
    std::uint64_t low;
    std::uint64_t high;
};

inline constexpr std::size_t longest_narrow = 15;
inline constexpr std::size_t longest_wide = 31;
inline constexpr std::size_t most_narrow_ids = 4;
inline constexpr std::size_t most_wide_ids = 8;
/// Set in a narrow key whose ids are in the wide table, being too many: the plain key misses then.
inline constexpr std::uint64_t elsewhere_bit = std::uint64_t{1} << 63;
/// The last id of a slot shares its word with the count.
inline constexpr TokenId largest_packed_id = 0x00FFFFFF;

/// `words` 64-bit words of key and as many of ids: two ids to a word, the count in the top byte.
template <std::size_t words> struct alignas(words * 16) CacheSlot {
    std::array<std::uint64_t, words> key;
    std::array<std::uint64_t, words> ids;
};
using NarrowSlot = CacheSlot<2>;
using WideSlot = CacheSlot<4>;
static_assert(sizeof(NarrowSlot) == 32 && sizeof(WideSlot) == 64);

/// The first `size` (1-15) of the 16 readable bytes at `bytes`, as a key.
[[nodiscard]] inline std::array<std::uint64_t, 2> narrow_key(const std::uint8_t* bytes,
                                                             std::size_t size) noexcept {
    struct Masks {
        std::uint64_t low[16];
        std::uint64_t high[16];
    };
    static constexpr Masks masks = [] {
        Masks made{};
        for (std::size_t length = 0; length < 16; ++length) {
            made.low[length] =
                length >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * length)) - 1;
            made.high[length] = length <= 8 ? 0 : (std::uint64_t{1} << (8 * (length - 8))) - 1;
        }
        return made;
    }();
    return {load64(bytes) & masks.low[size],
            (load64(bytes + 8) & masks.high[size]) | static_cast<std::uint64_t>(size) << 56};
}

/// The `size` (1-31) bytes at `bytes` as a key; reads no further.
[[nodiscard]] inline std::array<std::uint64_t, 4> wide_key(const std::uint8_t* bytes,
                                                           std::size_t size) noexcept {
    std::array<std::uint8_t, 32> padded{};
    std::memcpy(padded.data(), bytes, size);
    padded[31] = static_cast<std::uint8_t>(size);
    return {load64(padded.data()), load64(padded.data() + 8), load64(padded.data() + 16),
            load64(padded.data() + 24)};
}

/// Not thread-safe: each call of encode has one to itself.
class UnitCache {
  public:
    UnitCache(const CacheSizes& sizes, const HashSeed& seed)
        : narrow_(sizes.narrow_slots), wide_(sizes.wide_slots), seed_(seed),
          narrow_sets_(sizes.narrow_slots / 2 - 1), wide_sets_(sizes.wide_slots / 2 - 1) {}

    [[nodiscard]] NarrowSlot* narrow_set(const std::array<std::uint64_t, 2>& key) noexcept {
        const std::uint64_t hash = fold_product(key[0] ^ seed_.low, key[1] ^ seed_.high);
        return narrow_.data() + 2 * (hash & narrow_sets_);
    }
    [[nodiscard]] WideSlot* wide_set(const std::array<std::uint64_t, 4>& key) noexcept {
        const std::uint64_t half = fold_product(key[0] ^ seed_.low, key[1] ^ seed_.high);
        const std::uint64_t hash =
            fold_product(key[2] ^ seed_.high ^ half, key[3] ^ seed_.low ^ hash_constant_b);
        return wide_.data() + 2 * (hash & wide_sets_);
    }

    /// The slot of a set that holds `key`, or null. Which of the two it is decides no branch: it is
    /// as good as random, and a wrong guess costs more than all the rest (measured: a third of the
    /// time of warm encoding).
    template <std::size_t words>
    [[nodiscard]] static const CacheSlot<words>*
    find(const CacheSlot<words>* set, const std::array<std::uint64_t, words>& key) noexcept {
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        for (std::size_t i = 0; i < words; ++i) {
            first |= set[0].key[i] ^ key[i];
            second |= set[1].key[i] ^ key[i];
        }
        const CacheSlot<words>* found = set + static_cast<std::size_t>(first != 0);
        const bool missed = (first != 0) & (second != 0);
        return missed ? nullptr : found;
    }

    /// Puts ids under a key into a set; false when they do not fit. What came first stays first,
    /// being more likely common than what comes later, and new units replace each other behind it;
    /// but one insertion in eight moves the second unit to the front, so that text of another kind
    /// finds its place.
    template <std::size_t words>
    bool insert(CacheSlot<words>* set, const std::array<std::uint64_t, words>& key,
                std::span<const TokenId> ids) noexcept {
        constexpr std::size_t most = 2 * words;
        if (ids.size() > most || (ids.size() == most && ids.back() > largest_packed_id)) {
            return false;
        }
        if (++inserted_ % renewal == 0 || set[0].key == std::array<std::uint64_t, words>{}) {
            set[0] = set[1];
        }
        const bool first = set[0].key == std::array<std::uint64_t, words>{};
        CacheSlot<words>& slot = set[first ? 0 : 1];
        slot.key = key;
        slot.ids = {};
        for (std::size_t i = 0; i < ids.size(); ++i) {
            slot.ids[i / 2] |= static_cast<std::uint64_t>(ids[i]) << (32 * (i % 2));
        }
        slot.ids[words - 1] |= static_cast<std::uint64_t>(ids.size()) << 56;
        return true;
    }

    /// Writes all ids a slot has room for (2 * words, whatever its count) and returns the count.
    template <std::size_t words>
    static std::size_t emit(const CacheSlot<words>& slot, TokenId* out) noexcept {
        std::array<std::uint64_t, words> ids = slot.ids;
        const std::size_t count = ids[words - 1] >> 56;
        ids[words - 1] &= (std::uint64_t{1} << 56) - 1;
        std::memcpy(out, ids.data(), sizeof ids);
        return count;
    }

    [[nodiscard]] static std::size_t memory_bytes(const CacheSizes& sizes) noexcept {
        return sizes.narrow_slots * sizeof(NarrowSlot) + sizes.wide_slots * sizeof(WideSlot);
    }

  private:
    static constexpr std::uint32_t renewal = 8;

    PageArray<NarrowSlot> narrow_;
    PageArray<WideSlot> wide_;
    HashSeed seed_;
    std::size_t narrow_sets_;
    std::size_t wide_sets_;
    std::uint32_t inserted_ = 0;
};

} // namespace jogak
