// Which kernel of cutting this processor gets.
#include "jogak/cut_kernel.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace jogak {

namespace {

struct Kernel {
    std::string_view isa;
    bool (*available)() noexcept;
    FindCuts* find_cuts;
};

bool always() noexcept { return true; }

#ifdef JOGAK_X86
bool has_avx2() noexcept {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0;
}
bool has_avx512() noexcept {
    return has_avx2() && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
}
#endif

/// Best first.
constexpr std::array kernels{
#ifdef JOGAK_X86
    Kernel{"avx512", has_avx512, find_cuts_avx512},
    Kernel{"avx2", has_avx2, find_cuts_avx2},
#endif
    Kernel{"scalar", always, find_cuts_scalar},
};

} // namespace

FindCuts* choose_find_cuts(const char* isa) {
    for (const Kernel& kernel : kernels) {
        if ((isa == nullptr || kernel.isa == isa) && kernel.available()) {
            return kernel.find_cuts;
        }
    }
    std::string names;
    for (const Kernel& kernel : kernels) {
        if (kernel.available()) {
            names.append(names.empty() ? "" : ", ").append(kernel.isa);
        }
    }
    throw std::invalid_argument("JOGAK_ISA: this machine has no kernels '" + std::string(isa) +
                                "' (found: " + names + ")");
}

} // namespace jogak
