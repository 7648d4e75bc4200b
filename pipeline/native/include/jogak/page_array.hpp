// A zeroed array of fixed size in memory of its own, on huge pages where the system has them: a
// cache of a few megabytes on 4 KiB pages misses the TLB at nearly every probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace jogak {

template <typename T> class PageArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit PageArray(std::size_t size) : bytes_(size * sizeof(T)) {
#ifdef __linux__
        // Anonymous pages are zero; room for one huge page more, so that the array can start at
        // one.
        mapped_ = ::mmap(nullptr, bytes_ + 2 * huge_page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
        const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
        const std::uintptr_t start = (address + huge_page - 1) & ~(huge_page - 1);
        data_ = reinterpret_cast<T*>(start);
        if (bytes_ >= huge_page / 2) {
            // Advice only: where it is refused the array works on small pages.
            static_cast<void>(
                ::madvise(data_, (bytes_ + huge_page - 1) & ~(huge_page - 1), MADV_HUGEPAGE));
        }
#else
        mapped_ = std::calloc(1, bytes_ + cache_line);
        if (mapped_ == nullptr) {
            throw std::bad_alloc();
        }
        const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
        data_ = reinterpret_cast<T*>((address + cache_line - 1) & ~(cache_line - 1));
#endif
    }
    ~PageArray() {
#ifdef __linux__
        ::munmap(mapped_, bytes_ + 2 * huge_page);
#else
        std::free(mapped_);
#endif
    }
    PageArray(const PageArray&) = delete;
    PageArray& operator=(const PageArray&) = delete;

    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }

  private:
    static constexpr std::uintptr_t huge_page = std::uintptr_t{1} << 21;
    static constexpr std::uintptr_t cache_line = 64; // the vector kernels load whole lines
    static_assert(alignof(T) <= cache_line);
    std::size_t bytes_;
    void* mapped_ = nullptr;
    T* data_ = nullptr;
};

} // namespace jogak
