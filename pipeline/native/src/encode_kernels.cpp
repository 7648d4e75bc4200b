#include "jogak/cut_kernel.hpp"
#include "jogak/simd.hpp"

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

} // namespace jogak
