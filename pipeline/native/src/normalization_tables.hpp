// Properties of code points for the quick check of normal forms; the numbers are generated.
#pragma once

#include <cstdint>

namespace jogak {

constexpr std::uint32_t normalization_block_bits = 6;

/// Block of each 64 code points: index into the two tables below.
extern const std::uint8_t normalization_blocks[];

/// Per block, bit f: form f (as in NormalForm) leaves all of it alone, and all are starters.
extern const std::uint8_t normalization_plain[];

/// Per code point of a block: bits 0-7 the canonical combining class, then two bits for each form:
/// 0 the form never changes it, 1 it may compose with a character before it, 2 it is replaced.
extern const std::uint16_t normalization_properties[];

} // namespace jogak
