#include "huge_pages.hpp"

#if defined(__linux__)
#include <cstdint>
#include <sys/mman.h>
#endif

namespace jogak {

void prefer_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
    constexpr std::size_t large = std::size_t{4} << 20U;
    constexpr std::uintptr_t page = 4096;
    if (bytes < large) {
        return;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + bytes) / page * page;
    static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#endif
}

} // namespace jogak
