// An array that grows without being cleared or copied. Private to train.
#pragma once

#include "huge_pages.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace jogak {

/// Large blocks grow by realloc, which moves pages instead of bytes, and pages that were reserved
/// but never written cost nothing; std::vector can do neither.
template <typename T> class RawArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return items_.get(); }
    [[nodiscard]] const T* data() const noexcept { return items_.get(); }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return items_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return items_[index]; }

    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) {
            return;
        }
        void* moved = std::realloc(static_cast<void*>(items_.get()), capacity * sizeof(T));
        if (moved == nullptr) {
            throw std::bad_alloc();
        }
        static_cast<void>(items_.release());
        items_.reset(static_cast<T*>(moved));
        capacity_ = capacity;
        prefer_huge_pages(moved, capacity * sizeof(T));
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

    void clear() noexcept { size_ = 0; }

  private:
    struct Free {
        void operator()(T* items) const noexcept { std::free(static_cast<void*>(items)); }
    };
    std::unique_ptr<T[], Free> items_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace jogak
