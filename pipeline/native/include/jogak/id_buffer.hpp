// A growing array of ids that is never initialised and grows without copying where the system can
// remap pages: the output of `encode` is as large as its input, so each touch of it counts.
#pragma once

#include "jogak/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace jogak {

class IdBuffer {
  public:
    IdBuffer() = default;
    ~IdBuffer() { std::free(data_); }
    IdBuffer(IdBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    IdBuffer& operator=(IdBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    [[nodiscard]] TokenId* data() noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Makes room for `more` ids behind the present ones and returns where they go.
    [[nodiscard]] TokenId* reserve(std::size_t more) {
        if (capacity_ - size_ < more) {
            resize(std::max(size_ + more, capacity_ + capacity_ / 2));
        }
        return data_ + size_;
    }
    /// Where the room ends.
    [[nodiscard]] const TokenId* limit() const noexcept { return data_ + capacity_; }
    /// Takes over what was written up to `end`, a pointer into the room that was reserved.
    void commit(const TokenId* end) noexcept { size_ = static_cast<std::size_t>(end - data_); }
    void shrink() { resize(size_); }

  private:
    void resize(std::size_t capacity) {
        // One id at least: realloc of 0 bytes may return a null pointer.
        auto* moved = static_cast<TokenId*>(
            std::realloc(data_, std::max<std::size_t>(capacity, 1) * sizeof(TokenId)));
        if (moved == nullptr) {
            throw std::bad_alloc();
        }
        if (capacity > capacity_) {
            ask_for_huge_pages(moved, capacity);
        }
        data_ = moved;
        capacity_ = capacity;
    }

    /// Ten megabytes of new small pages cost a tenth of encoding known text (measured).
    static void ask_for_huge_pages(TokenId* ids, std::size_t size) noexcept {
#ifdef __linux__
        constexpr std::uintptr_t huge_page = std::uintptr_t{1} << 21;
        const auto begin =
            (reinterpret_cast<std::uintptr_t>(ids) + huge_page - 1) & ~(huge_page - 1);
        const auto end = reinterpret_cast<std::uintptr_t>(ids + size) & ~(huge_page - 1);
        if (begin < end) {
            static_cast<void>(
                ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
        }
#endif
    }

    TokenId* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace jogak
