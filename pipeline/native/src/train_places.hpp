// Places in the text, packed. Private to train.
#pragma once

#include "large_block.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jogak {

static_assert(std::endian::native == std::endian::little, "places are packed little-endian");

/// An array of places: 3 bytes each where the text is short enough for them, else 4. The lists of
/// all pairs stand in it, which are most of the memory of training.
class Places {
  public:
    /// Empties the array; from now on it holds places below 2^24, or 2^32 where `wide`.
    void clear(bool wide) noexcept {
        size_ = 0;
        stride_ = wide ? 4 : 3;
        mask_ = mask_of(stride_);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] std::uint32_t operator[](std::size_t index) const noexcept {
        std::uint32_t place;
        std::memcpy(&place, bytes_ + index * stride_, sizeof place);
        return place & mask_;
    }

    /// Writes places: a copy of where they stand, which no write can change for the compiler.
    class Writer {
      public:
        Writer(std::uint8_t* bytes, std::size_t stride) noexcept : bytes_(bytes), stride_(stride) {}

        void set(std::size_t index, std::uint32_t place) const noexcept {
            std::uint8_t* const target = bytes_ + index * stride_;
            std::memcpy(target, &place, 2);
            target[2] = static_cast<std::uint8_t>(place >> 16U);
            if (stride_ == 4) {
                target[3] = static_cast<std::uint8_t>(place >> 24U);
            }
        }

      private:
        std::uint8_t* bytes_;
        std::size_t stride_;
    };

    /// Asks memory for some places from one on.
    void prefetch(std::size_t index) const noexcept {
        __builtin_prefetch(bytes_ + index * stride_);
        __builtin_prefetch(bytes_ + index * stride_ + 64);
    }

    /// Until the array grows.
    [[nodiscard]] Writer writer() noexcept { return {bytes_, stride_}; }

    void set(std::size_t index, std::uint32_t place) noexcept { writer().set(index, place); }

    /// Moves [begin, end) to an index below it.
    void move(std::size_t begin, std::size_t end, std::size_t target) noexcept {
        if (begin != target && begin != end) {
            std::memmove(bytes_ + target * stride_, bytes_ + begin * stride_,
                         (end - begin) * stride_);
        }
    }

    /// New items are uninitialized.
    void resize(std::size_t size) {
        // A place is read as 4 bytes, the last one too.
        if (const std::size_t needed = size * stride_ + 1; needed > capacity_) {
            block_.resize(needed + needed / 2);
            capacity_ = needed + needed / 2;
            bytes_ = static_cast<std::uint8_t*>(block_.data());
        }
        size_ = size;
    }

  private:
    static constexpr std::uint32_t mask_of(std::size_t bytes) noexcept {
        return ~std::uint32_t{0} >> (32 - 8 * bytes);
    }

    LargeBlock block_;
    std::uint8_t* bytes_ = nullptr;
    std::size_t capacity_ = 0; // bytes
    std::size_t size_ = 0;
    std::size_t stride_ = 4;
    std::uint32_t mask_ = ~std::uint32_t{0};
};

} // namespace jogak
