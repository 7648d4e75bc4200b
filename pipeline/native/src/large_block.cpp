#include "large_block.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace jogak {

namespace {

#if defined(__linux__)

constexpr std::size_t large = std::size_t{1} << 20U;
/// The system gives a large page only where one begins.
constexpr std::size_t large_page = std::size_t{1} << 21U;

bool is_mapped(std::size_t bytes) noexcept { return bytes >= large; }

std::size_t whole_pages(std::size_t bytes) noexcept {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

/// Takes addresses without memory, so that the block begins where a large page does.
char* reserve(std::size_t bytes) {
    const std::size_t room = whole_pages(bytes) + large_page;
    void* const mapped =
        mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc();
    }
    char* const begin = static_cast<char*>(mapped);
    const std::size_t head =
        (large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page) % large_page;
    if (head != 0) {
        munmap(begin, head);
    }
    munmap(begin + head + whole_pages(bytes), large_page - head);
    return begin + head;
}

void* map(std::size_t bytes) {
    char* const block = reserve(bytes);
    static_cast<void>(madvise(block, bytes, MADV_HUGEPAGE)); // a hint, which may be refused
    return block;
}

void* move_mapped(void* block, std::size_t old_bytes, std::size_t bytes) {
    if (whole_pages(bytes) <= whole_pages(old_bytes)) {
        return mremap(block, old_bytes, bytes, 0);
    }
    char* const target = reserve(bytes);
    void* const moved = mremap(block, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (moved == MAP_FAILED) {
        munmap(target, whole_pages(bytes));
        throw std::bad_alloc();
    }
    static_cast<void>(madvise(moved, bytes, MADV_HUGEPAGE));
    return moved;
}

void unmap(void* block, std::size_t bytes) noexcept { munmap(block, bytes); }

void give_back(char* block, std::size_t begin, std::size_t end) noexcept {
    begin = whole_pages(begin);
    end = whole_pages(end + 1) - whole_pages(1);
    if (begin < end) {
        madvise(block + begin, end - begin, MADV_DONTNEED);
    }
}

#else

bool is_mapped(std::size_t) noexcept { return false; }
void* map(std::size_t) { throw std::bad_alloc(); }
void* move_mapped(void*, std::size_t, std::size_t) { throw std::bad_alloc(); }
void unmap(void*, std::size_t) noexcept {}
void give_back(char*, std::size_t, std::size_t) noexcept {}

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

void LargeBlock::discard(std::size_t begin, std::size_t end) noexcept {
    if (is_mapped(bytes_) && begin < end) {
        give_back(static_cast<char*>(data_), begin, end);
    }
}

} // namespace jogak
