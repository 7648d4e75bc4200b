#include "large_block.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace jogak {

namespace {

#if defined(__linux__)

constexpr std::size_t large = std::size_t{1} << 20U;

bool is_mapped(std::size_t bytes) noexcept { return bytes >= large; }

void* checked(void* mapped, std::size_t bytes) {
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc();
    }
    static_cast<void>(madvise(mapped, bytes, MADV_HUGEPAGE)); // a hint, which may be refused
    return mapped;
}

void* map(std::size_t bytes) {
    return checked(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                   bytes);
}

void* move_mapped(void* block, std::size_t old_bytes, std::size_t bytes) {
    return checked(mremap(block, old_bytes, bytes, MREMAP_MAYMOVE), bytes);
}

void unmap(void* block, std::size_t bytes) noexcept { munmap(block, bytes); }

#else

bool is_mapped(std::size_t) noexcept { return false; }
void* map(std::size_t) { throw std::bad_alloc(); }
void* move_mapped(void*, std::size_t, std::size_t) { throw std::bad_alloc(); }
void unmap(void*, std::size_t) noexcept {}

#endif

} // namespace

void give_back_memory() noexcept {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

LargeBlock::LargeBlock(std::size_t bytes)
    : data_(is_mapped(bytes) ? map(bytes) : std::calloc(std::max<std::size_t>(bytes, 1), 1)),
      bytes_(bytes) {
    if (data_ == nullptr) {
        throw std::bad_alloc();
    }
}

LargeBlock::~LargeBlock() {
    if (is_mapped(bytes_)) {
        unmap(data_, bytes_);
    } else {
        std::free(data_);
    }
}

void LargeBlock::resize(std::size_t bytes) {
    if (data_ != nullptr && is_mapped(bytes_) && is_mapped(bytes)) {
        data_ = move_mapped(data_, bytes_, bytes);
        bytes_ = bytes;
        return;
    }
    if (!is_mapped(bytes_) && !is_mapped(bytes)) {
        void* moved = std::realloc(data_, std::max<std::size_t>(bytes, 1));
        if (moved == nullptr) {
            throw std::bad_alloc();
        }
        data_ = moved;
        bytes_ = bytes;
        return;
    }
    LargeBlock other(bytes);
    if (data_ != nullptr) {
        std::memcpy(other.data_, data_, std::min(bytes_, bytes));
    }
    *this = std::move(other);
}

} // namespace jogak
