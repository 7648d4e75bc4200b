// A growing array of ids that is never initialised and grows without copying where the system can
// remap pages: the output of `encode` is as large as its input, so each touch of it counts.
#pragma once

#include "jogak/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

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
        data_ = moved;
        capacity_ = capacity;
    }

    TokenId* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace jogak
