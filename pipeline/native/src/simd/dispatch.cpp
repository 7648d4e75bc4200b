#include "jogak/simd.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace jogak::simd {

namespace {

// Without vectors the automaton is the faster way, and the truth that the kernels must equal.
constexpr Kernels scalar_kernels{"scalar", nullptr, nullptr};

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
