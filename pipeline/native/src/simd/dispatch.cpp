#include "jogak/simd.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace jogak::simd {

namespace {

constexpr std::size_t text_block_bytes = 64;

/// Whether the bytes text[0, 64) follow on from text[-3, 0) as well-formed UTF-8 does (Unicode 16,
/// table 3-7). Every rule of the table looks back at most three bytes, so the loop has no branch
/// and the compiler vectorises it.
bool block_is_valid(const std::uint8_t* text) noexcept {
    std::uint8_t faults = 0;
    for (std::size_t i = 0; i < text_block_bytes; ++i) {
        const std::uint8_t byte = text[i];
        const std::uint8_t back1 = text[i - 1];
        const std::uint8_t back2 = text[i - 2];
        const std::uint8_t back3 = text[i - 3];
        const bool continues = (byte & 0xC0) == 0x80;
        const bool must_continue = (back1 >= 0xC0) | (back2 >= 0xE0) | (back3 >= 0xF0);
        const bool fault = (continues != must_continue) | (byte == 0xC0) | (byte == 0xC1) |
                           (byte >= 0xF5) | ((back1 == 0xE0) & (byte < 0xA0)) |
                           ((back1 == 0xED) & (byte >= 0xA0)) | ((back1 == 0xF0) & (byte < 0x90)) |
                           ((back1 == 0xF4) & (byte >= 0x90));
        faults = static_cast<std::uint8_t>(faults | static_cast<std::uint8_t>(fault));
    }
    return faults == 0;
}

std::size_t skip_valid(const std::uint8_t* text, std::size_t position, std::size_t size) noexcept {
    while (position + text_block_bytes <= size && block_is_valid(text + position)) {
        position += text_block_bytes;
    }
    return position;
}

// Without vectors the automaton is the faster way, and the truth that the kernels must equal.
constexpr Kernels scalar_kernels{"scalar", nullptr, nullptr, &skip_valid, nullptr};

#ifdef JOGAK_X86_64
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

const Kernels* find(const std::string& isa) {
#ifdef JOGAK_X86_64
    if ((isa == "avx512" || isa.empty()) && has_avx512()) {
        return &avx512_kernels;
    }
    if ((isa == "avx2" || isa.empty()) && has_avx2()) {
        return &avx2_kernels;
    }
#endif
    return isa == "scalar" || isa.empty() ? &scalar_kernels : nullptr;
}

} // namespace

const Kernels& kernels(const char* isa) {
    const char* configured = std::getenv("JOGAK_ISA");
    const std::string name = *isa != '\0' || configured == nullptr ? isa : configured;
    const Kernels* found = find(name);
    if (found != nullptr) {
        return *found;
    }
    const bool known = name == "avx512" || name == "avx2";
    throw std::runtime_error("JOGAK_ISA: " +
                             (known ? "this processor or build lacks '" + name + "'"
                                    : "unknown instruction set '" + name + "'") +
                             "; use scalar, avx2 or avx512, or leave it unset");
}

} // namespace jogak::simd
