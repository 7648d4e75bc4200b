// The kernels of unit_kernel.hpp, written once; each instruction set brings its own `Isa` (how to
// list the bits of a word, how to find a key among four). Included by the kernel files only:
// everything here has internal linkage, so that no code for one processor can be linked for
// another.
#pragma once

#include "jogak/unit_kernel.hpp"

namespace jogak {
namespace {

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

template <class Isa>
void prepare(const UnitTables& tables, const UnitWindow& window, std::size_t count) noexcept {
    // Copies, for the stores below might change what references lead to.
    const UnitTables table = tables;
    const UnitWindow units = window;
    std::size_t begin = units.starts[0];
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t end = units.starts[i + 1];
        const UnitKey key = unit_key(units.text + begin, end - begin);
        void* const set = unit_set(table, key, end - begin, first_choice);
        units.keys[i] = key;
        units.sets[i] = set;
        __builtin_prefetch(set);
        begin = end;
    }
}

template <class Isa>
std::uint32_t* probe(const UnitWindow& window, std::size_t first, std::size_t last,
                     std::uint32_t* out, MissedUnit*& missed) noexcept {
    const UnitWindow units = window;
    MissedUnit* miss = missed;
    std::size_t begin = units.starts[first];
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t end = units.starts[i + 1];
        const std::size_t size = end - begin;
        const UnitKey key = units.keys[i];
        begin = end;
        if (size <= longest_short) {
            const ShortSet& set = *static_cast<const ShortSet*>(units.sets[i]);
            const unsigned way = Isa::find(set.keys, key.low | key.high);
            if (way < 4) {
                const std::uint64_t ids = set.ids[way];
                const std::uint64_t cleared = ids & ids_mask;
                __builtin_memcpy(out, &cleared, sizeof cleared);
                out += ids >> count_shift;
                continue;
            }
        } else if (size <= longest_narrow) {
            // Which of the two slots it is decides no branch: it is as good as random, and a wrong
            // guess costs more than all the rest.
            const NarrowSlot* set = static_cast<const NarrowSlot*>(units.sets[i]);
            const std::uint64_t one = (set[0].key[0] ^ key.low) | (set[0].key[1] ^ key.high);
            const std::uint64_t two = (set[1].key[0] ^ key.low) | (set[1].key[1] ^ key.high);
            const NarrowSlot& slot = set[static_cast<std::size_t>(one != 0)];
            if (one == 0 || two == 0) {
                const std::uint64_t ids[2] = {slot.ids[0], slot.ids[1] & ids_mask};
                __builtin_memcpy(out, ids, sizeof ids);
                out += slot.ids[1] >> count_shift;
                continue;
            }
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
