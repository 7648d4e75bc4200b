#include "jogak/cut_kernel.hpp"
#include "jogak/simd.hpp"
#include "jogak/unit_kernel.hpp"

#include <string_view>

namespace jogak {

FindCuts* choose_find_cuts(const char* isa) {
    const std::string_view name = simd::kernels(isa).isa;
#ifdef JOGAK_X86_64
    if (name == "avx512") {
        return find_cuts_avx512;
    }
    if (name == "avx2") {
        return find_cuts_avx2;
    }
#endif
    static_cast<void>(name);
    return find_cuts_scalar;
}

const UnitKernels& choose_unit_kernels(const char* isa) {
    const std::string_view name = simd::kernels(isa).isa;
#ifdef JOGAK_X86_64
    if (name == "avx512") {
        return unit_kernels_avx512;
    }
    if (name == "avx2") {
        return unit_kernels_avx2;
    }
#endif
    static_cast<void>(name);
    return unit_kernels_scalar;
}

} // namespace jogak
