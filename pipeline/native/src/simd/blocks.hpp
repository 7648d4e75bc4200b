// Kernels over blocks of 64 bytes, written once and compiled for each instruction set. Included by
// the kernel files only: everything here has internal linkage, so that no code for one processor
// can be linked for another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jogak::simd {
namespace {

constexpr std::size_t text_block_bytes = 64;

/// What three half bytes, side by side, say against a text: a bit remains where all three have it.
/// The method is that of Keiser and Lemire, "Validating UTF-8 in less than one instruction per
/// byte" (2021); the tables follow from Unicode 16, table 3-7.
namespace fault {
enum : std::uint8_t {
    too_short = 1,       // a first byte, and no continuation
    too_long = 2,        // ASCII, and a continuation
    overlong_3 = 4,      // E0 80..9F
    surrogate = 8,       // ED A0..BF
    too_large = 16,      // F4 90..BF, F5..FF
    overlong_2 = 32,     // C0, C1
    beyond = 64,         // F5..FF 80..8F, and F0 80..8F, overlong
    continuations = 128, // two of them: right or wrong by what stands before
    any_low = too_short | too_long | continuations
};
} // namespace fault

/// Of the byte before, its high and its low half; of the byte itself, its high half.
alignas(16) constexpr std::uint8_t faults_of_half[3][16] = {
    {fault::too_long, fault::too_long, fault::too_long, fault::too_long, fault::too_long,
     fault::too_long, fault::too_long, fault::too_long, fault::continuations, fault::continuations,
     fault::continuations, fault::continuations, fault::too_short | fault::overlong_2,
     fault::too_short, fault::too_short | fault::overlong_3 | fault::surrogate,
     fault::too_short | fault::too_large | fault::beyond},
    {fault::any_low | fault::overlong_3 | fault::overlong_2 | fault::beyond,
     fault::any_low | fault::overlong_2, fault::any_low, fault::any_low,
     fault::any_low | fault::too_large, fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond | fault::surrogate,
     fault::any_low | fault::too_large | fault::beyond,
     fault::any_low | fault::too_large | fault::beyond},
    {fault::too_short, fault::too_short, fault::too_short, fault::too_short, fault::too_short,
     fault::too_short, fault::too_short, fault::too_short,
     fault::too_long | fault::overlong_2 | fault::continuations | fault::overlong_3 | fault::beyond,
     fault::too_long | fault::overlong_2 | fault::continuations | fault::overlong_3 |
         fault::too_large,
     fault::too_long | fault::overlong_2 | fault::continuations | fault::surrogate |
         fault::too_large,
     fault::too_long | fault::overlong_2 | fault::continuations | fault::surrogate |
         fault::too_large,
     fault::too_short, fault::too_short, fault::too_short, fault::too_short}};

/// See Kernels. `Isa::find_faults` gives for each byte of a vector whether it does not follow on.
template <typename Isa>
std::size_t skip_valid(const std::uint8_t* text, std::size_t position, std::size_t size) noexcept {
    for (; position + text_block_bytes <= size; position += text_block_bytes) {
        auto faults = Isa::find_faults(text + position);
        for (std::size_t at = Isa::vector_bytes; at < text_block_bytes; at += Isa::vector_bytes) {
            faults = Isa::join(faults, Isa::find_faults(text + position + at));
        }
        if (Isa::any(faults)) {
            break;
        }
    }
    return position;
}

/// See Kernels. `Isa::equal_bytes` gives a bit for each of 64 bytes that equals one.
template <typename Isa>
std::size_t find_lines(const std::uint8_t* text, std::size_t& position, std::size_t size,
                       std::int64_t* ends, std::size_t room) noexcept {
    std::size_t found = 0;
    for (; position + text_block_bytes <= size && found + text_block_bytes <= room;
         position += text_block_bytes) {
        for (std::uint64_t lines = Isa::equal_bytes(text + position, '\n'); lines != 0;
             lines &= lines - 1) {
            const auto place = static_cast<std::size_t>(__builtin_ctzll(lines));
            ends[found++] = static_cast<std::int64_t>(position + place + 1);
        }
    }
    return found;
}

} // namespace
} // namespace jogak::simd
