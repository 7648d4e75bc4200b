// Finding cuts: one function for each instruction set, all of the same result. Included by the
// files of src/simd, so nothing of the standard library but integers may come in here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jogak {

/// Class 0 joins everything.
struct CutTables {
    /// By code point below 2^16: the row (low half) and the column (high half) of its class.
    const std::uint32_t* classes;
    /// Bit `column` of row `row`, rows of `row_bits` bits: some token joins the two classes. Fewer
    /// than 2^31 bits.
    const std::uint64_t* joined;
    std::uint32_t row_bits;
};

/// Sets bit i of `bits` where text[begin + i] starts a character that can be cut from the character
/// before it, for i below `size`; other bits of the (size + 63) / 64 words are cleared. `text` has
/// `text_size` bytes, begin + size <= text_size; characters may straddle both ends. Bytes that are
/// no UTF-8 are next to no cut.
using FindCuts = void(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                      std::size_t begin, std::size_t size, std::uint64_t* bits) noexcept;

/// The truth that the others must equal.
FindCuts find_cuts_scalar;
/// Needs AVX2 and BMI2.
FindCuts find_cuts_avx2;
/// Needs AVX-512 F, BW, DQ, VL, VBMI and VBMI2, and BMI2.
FindCuts find_cuts_avx512;

/// The one that goes with simd::kernels(isa), whose errors it has.
FindCuts* choose_find_cuts(const char* isa);

} // namespace jogak
