// An array that grows without being cleared or copied. Private to train.
#pragma once

#include "large_block.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace jogak {

/// Reserved items that were never written cost nothing, as those of std::vector do not.
template <typename T> class RawArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return items_; }
    [[nodiscard]] const T* data() const noexcept { return items_; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return items_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return items_[index]; }

    void reserve(std::size_t capacity) {
        if (capacity > capacity_) {
            block_.resize(capacity * sizeof(T));
            items_ = static_cast<T*>(block_.data());
            capacity_ = capacity;
        }
    }

    /// New items are uninitialized.
    void resize(std::size_t size) {
        if (size > capacity_) {
            reserve(size + size / 2);
        }
        size_ = size;
    }

    void push_back(T item) {
        resize(size_ + 1);
        items_[size_ - 1] = item;
    }

    /// Appends the first `count` of some items; all are written, so that no branch depends on it.
    template <std::size_t most> void append(const std::array<T, most>& items, std::size_t count) {
        resize(size_ + most);
        std::memcpy(items_ + (size_ - most), items.data(), sizeof items);
        size_ -= most - count;
    }

    /// Gives back the memory of items that are not needed any more.
    void discard(std::size_t begin, std::size_t end) noexcept {
        block_.discard(begin * sizeof(T), end * sizeof(T));
    }

    void clear() noexcept { size_ = 0; }

  private:
    LargeBlock block_;
    T* items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace jogak
