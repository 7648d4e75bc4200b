// Encoding the units of a window that the cache knows: one set of functions for each instruction
// set, all of the same result. Included by the files of src/simd.
#pragma once

#include "jogak/unit_slots.hpp"

namespace jogak {

/// The units of a window and what is known of them; unit i lies between starts[i] and starts[i +
/// 1].
struct UnitWindow {
    const UnitTables& tables;
    const std::uint8_t* text; // 16 bytes are readable at every start but the last
    const std::uint16_t* starts;
    UnitKey* keys;
    char** sets; // where a unit is looked for first, plus its unit_kind
};

/// A unit whose ids the cache does not have, and where they belong.
struct MissedUnit {
    std::uint32_t unit;
    std::uint32_t* at;
};

struct UnitKernels {
    /// Writes the places of the bits of `words` words (at most 1,024), ascending, and for each word
    /// how many come before it; returns how many there are. Writes up to 64 places more.
    std::size_t (*list_places)(const std::uint64_t* bits, std::size_t words, std::uint16_t* places,
                               std::uint16_t* before) noexcept;
    /// Fills keys and sets for `count` units and asks for their cache lines, so that the probes
    /// that follow do not wait. Units longer than 15 bytes get some key and some set.
    void (*prepare)(const UnitWindow& window, std::size_t count) noexcept;
    /// Appends the ids of units [first, last) that the cache knows to `out`, which has room for
    /// `most_wide_ids` more than there are, and those it does not know to `missed`; returns where
    /// the ids end.
    std::uint32_t* (*probe)(const UnitWindow& window, std::size_t first, std::size_t last,
                            std::uint32_t* out, MissedUnit*& missed) noexcept;
};

/// The truth that the others must equal.
extern const UnitKernels unit_kernels_scalar;
/// Needs AVX2 and BMI2.
extern const UnitKernels unit_kernels_avx2;
/// Needs what the other kernels for AVX-512 need.
extern const UnitKernels unit_kernels_avx512;

/// Those that go with simd::kernels(isa), whose errors it has.
const UnitKernels& choose_unit_kernels(const char* isa);

} // namespace jogak
