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

bool is_mapped(std::size_t bytes) noexcept { return bytes >= large; }

constexpr std::size_t large_page = std::size_t{1} << 21U;

char* checked(void* mapped) {
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return static_cast<char*>(mapped);
}

void ask_for_large_pages(void* block, std::size_t bytes) noexcept {
    static_cast<void>(madvise(block, bytes, MADV_HUGEPAGE)); // a hint, which may be refused
}

char* map_anywhere(std::size_t bytes) {
    return checked(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/// A block that holds large pages begins where one can, or its ends would be small pages.
void* map(std::size_t bytes, LargeBlock::Pages pages) {
    if (pages == LargeBlock::Pages::small) {
        return map_anywhere(bytes);
    }
    if (bytes < large_page) {
        char* const block = map_anywhere(bytes);
        ask_for_large_pages(block, bytes);
        return block;
    }
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t whole = (bytes + page - 1) / page * page;
    char* const mapped = map_anywhere(whole + large_page);
    const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(mapped) % large_page;
    if (skipped > 0) {
        munmap(mapped, skipped);
    }
    munmap(mapped + skipped + whole, large_page - skipped);
    ask_for_large_pages(mapped + skipped, bytes);
    return mapped + skipped;
}

/// Moves the pages of a block to the beginning of another one, in place of what is there.
void move_pages(void* block, std::size_t bytes, void* target) {
    checked(mremap(block, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target));
}

void* move_mapped(void* block, std::size_t old_bytes, std::size_t bytes) {
    if (bytes <= old_bytes) {
        return checked(mremap(block, old_bytes, bytes, 0));
    }
    void* const larger = map(bytes, LargeBlock::Pages::large); // where large pages stay whole
    move_pages(block, old_bytes, larger);
    return larger;
}

/// Pages that are read before they are written are faulted in twice, and the second time all
/// threads are stopped.
void touch(char* block, std::size_t begin, std::size_t end) noexcept {
#if defined(MADV_POPULATE_WRITE)
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    begin = (begin + page - 1) / page * page;
    if (begin < end) {
        static_cast<void>(
            madvise(block + begin, end - begin, MADV_POPULATE_WRITE)); // may be refused
    }
#else
    static_cast<void>(block);
    static_cast<void>(begin);
    static_cast<void>(end);
#endif
}

void prefer_large(void* memory, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::size_t skipped = -begin % large_page;
    if (bytes >= skipped + large_page) {
        ask_for_large_pages(static_cast<char*>(memory) + skipped,
                            (bytes - skipped) / large_page * large_page);
    }
}

void unmap(void* block, std::size_t bytes) noexcept { munmap(block, bytes); }

void give_back(char* block, std::size_t begin, std::size_t end) noexcept {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    if (begin < end) {
        madvise(block + begin, end - begin, MADV_DONTNEED);
    }
}

#else

bool is_mapped(std::size_t) noexcept { return false; }
void* map(std::size_t, LargeBlock::Pages) { throw std::bad_alloc(); }
void* move_mapped(void*, std::size_t, std::size_t) { throw std::bad_alloc(); }
void move_pages(void*, std::size_t, void*) { throw std::bad_alloc(); }
void touch(char*, std::size_t, std::size_t) noexcept {}
void prefer_large(void*, std::size_t) noexcept {}
void unmap(void*, std::size_t) noexcept {}
void give_back(char*, std::size_t, std::size_t) noexcept {}

#endif

} // namespace

void prefer_large_pages(void* memory, std::size_t bytes) noexcept { prefer_large(memory, bytes); }

void give_back_memory() noexcept {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

LargeBlock::LargeBlock(std::size_t bytes, Pages pages)
    : data_(is_mapped(bytes) ? map(bytes, pages) : std::calloc(std::max<std::size_t>(bytes, 1), 1)),
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

void LargeBlock::extend(std::size_t bytes) {
    LargeBlock larger(bytes);
    if (is_mapped(bytes_)) {
        move_pages(data_, bytes_, larger.data_);
        touch(static_cast<char*>(larger.data_), bytes_, bytes);
        data_ = nullptr;
        bytes_ = 0;
    } else if (data_ != nullptr) {
        std::memcpy(larger.data_, data_, bytes_);
    }
    *this = std::move(larger);
}

bool LargeBlock::moves_pages() const noexcept { return is_mapped(bytes_); }

void LargeBlock::discard(std::size_t begin, std::size_t end) noexcept {
    if (is_mapped(bytes_) && begin < end) {
        give_back(static_cast<char*>(data_), begin, end);
    }
}

} // namespace jogak
