// The kernels of unit_kernel.hpp, written once; each instruction set brings its own `Isa` (how to
// list the bits of a word, make a key, compare a set with it; its `prepare` may do the first units
// in a way of its own and returns how many). Included by the kernel files only: everything here has
// internal linkage, so that no code for one processor can be linked for another.
#pragma once

#include "jogak/unit_kernel.hpp"

namespace jogak {
namespace {

/// Where the ids of a unit are that its set does not have; else it is a word of the set, 0 to 7.
constexpr unsigned absent = 8;

/// Where the ids are, by unit_kind and by which of the eight words of a set equal the two of the
/// key in turn: ids and key alternate in a ShortSet; a NarrowSlot has two words of key, then two of
/// ids.
struct FoundWords {
    std::uint8_t of[2][256];
};

constexpr FoundWords make_found_words() {
    FoundWords found{};
    for (unsigned bits = 0; bits < 256; ++bits) {
        unsigned way = 0;
        while (way < 4 && (bits >> (2 * way + 1) & 1U) == 0) {
            ++way;
        }
        const unsigned narrow = (bits & 0x03U) == 0x03U ? 2 : (bits & 0x30U) == 0x30U ? 6 : absent;
        found.of[0][bits] = static_cast<std::uint8_t>(way < 4 ? 2 * way : absent);
        found.of[1][bits] = static_cast<std::uint8_t>(narrow);
    }
    return found;
}
constexpr FoundWords found_words = make_found_words();

template <class Isa>
std::size_t list_places(const std::uint64_t* bits, std::size_t words, std::uint16_t* places,
                        std::uint16_t* before) noexcept {
    std::size_t count = 0;
    for (std::size_t word = 0; word < words; ++word) {
        before[word] = static_cast<std::uint16_t>(count);
        count += Isa::list(bits[word], static_cast<std::uint16_t>(64 * word), places + count);
    }
    return count;
}

/// unit_key by one shuffle of 16 bytes: from which of them each of the key's comes (0x80: none),
/// and what is added; by the unit's size, at most longest_narrow + 1.
struct KeyShuffle {
    std::uint8_t from[16];
    std::uint64_t length[2];
};
struct KeyShuffles {
    KeyShuffle of[longest_narrow + 2];
};

constexpr KeyShuffles make_key_shuffles() {
    KeyShuffles shuffles{};
    for (std::size_t size = 0; size <= longest_narrow + 1; ++size) {
        KeyShuffle& shuffle = shuffles.of[size];
        const std::size_t first = unit_kind(size) == 1 ? 0 : 8;
        for (std::size_t i = 0; i < 16; ++i) {
            const bool is_kept = i >= first && i - first < size && size <= longest_narrow;
            shuffle.from[i] = static_cast<std::uint8_t>(is_kept ? i - first : 0x80);
        }
        shuffle.length[1] = static_cast<std::uint64_t>(size) << 56U;
    }
    return shuffles;
}
alignas(32) constexpr KeyShuffles key_shuffles = make_key_shuffles();

inline const KeyShuffle& key_shuffle(std::size_t size) noexcept {
    return key_shuffles.of[size <= longest_narrow ? size : longest_narrow + 1];
}

template <class Isa>
void prepare_from(const UnitWindow& window, std::size_t first, std::size_t count) noexcept {
    // Copies, for the stores below might change what references lead to.
    const UnitTables tables = window.tables;
    const UnitWindow units = window;
    std::size_t begin = units.starts[first];
    for (std::size_t i = first; i < count; ++i) {
        const std::size_t end = units.starts[i + 1];
        const std::size_t kind = unit_kind(end - begin);
        Isa::write_key(units.keys + i, units.text + begin, end - begin);
        char* const set = unit_set(tables, units.keys[i], kind, first_choice);
        units.sets[i] = set + kind;
        __builtin_prefetch(set);
        begin = end;
    }
}

template <class Isa> void prepare(const UnitWindow& window, std::size_t count) noexcept {
    prepare_from<Isa>(window, Isa::prepare(window, count), count);
}

/// The ids of a unit of which the set says that they are in the next table. Apart from `probe`,
/// whose loop is small so; no unit but such a one is looked for further, for that would wait for
/// memory.
[[gnu::noinline]] inline std::size_t find_marked(const UnitWindow& window, std::size_t index,
                                                 std::uint32_t* out) noexcept {
    const std::size_t size =
        static_cast<std::size_t>(window.starts[index + 1] - window.starts[index]);
    if (size > longest_short) {
        return 0;
    }
    const UnitKey& key = window.keys[index];
    for (const ShortSet::Slot& slot : reinterpret_cast<ShortSet*>(window.sets[index])->slots) {
        if (slot.key == mark_elsewhere(key).high) {
            return find_narrow(window.tables, key, size, out);
        }
    }
    return 0;
}

template <class Isa>
std::uint32_t* probe(const UnitWindow& window, std::size_t first, std::size_t last,
                     std::uint32_t* out, MissedUnit*& missed) noexcept {
    const UnitWindow units = window;
    MissedUnit* miss = missed;
    for (std::size_t i = first; i < last; ++i) {
        // Neither which table nor which slot it is decides a branch: both are as good as random,
        // and a wrong guess costs more than all the rest.
        const std::size_t kind = reinterpret_cast<std::uintptr_t>(units.sets[i]) & 1U;
        const auto* set = reinterpret_cast<const std::uint64_t*>(units.sets[i] - kind);
        const unsigned word = found_words.of[kind][Isa::equal_words(set, units.keys[i])];
        if (__builtin_expect(static_cast<long>(word < absent), 1) != 0) {
            const std::uint64_t* ids = set + word;
            const std::uint64_t two[2] = {ids[0] & ids_mask, ids[1] & ids_mask};
            __builtin_memcpy(out, two, sizeof two);
            out += ids[kind] >> count_shift;
            continue;
        }
        if (const std::size_t count = find_marked(units, i, out); count != 0) {
            out += count;
            continue;
        }
        *miss++ = {static_cast<std::uint32_t>(i), out};
    }
    missed = miss;
    return out;
}

template <class Isa>
constexpr UnitKernels unit_kernels{&list_places<Isa>, &prepare<Isa>, &probe<Isa>};

} // namespace
} // namespace jogak
