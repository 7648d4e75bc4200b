// The text of pretokens that do not fit a slot. Private to count.
#pragma once

#include "count_key.hpp"
#include "large_block.hpp"

#include <stdexcept>

namespace jogak {

/// The upper half of a long pretoken's key says where its text lies. From the top: the tag; 8 bits
/// of length, all ones where the length (4 bytes) stands before the text; 10 bits for the number of
/// the table, where slots of several are listed together; 38 bits of place.
inline constexpr unsigned place_bits = 38;
inline constexpr unsigned table_bits = 10;
inline constexpr unsigned length_shift = place_bits + table_bits;
inline constexpr std::size_t stated_length = 0xFF;
inline constexpr std::size_t most_tables = std::size_t{1} << table_bits;

[[nodiscard]] inline std::size_t long_place(const Key& key) noexcept {
    return static_cast<std::size_t>(key.high & ((std::uint64_t{1} << place_bits) - 1));
}

[[nodiscard]] inline std::size_t table_of(const Key& key) noexcept {
    return static_cast<std::size_t>(key.high >> place_bits) & (most_tables - 1);
}

[[nodiscard]] inline std::string_view long_text(const Key& key, const char* arena) noexcept {
    const char* const text = arena + long_place(key);
    const auto length = static_cast<std::size_t>(key.high >> length_shift) & stated_length;
    if (length < stated_length) {
        return {text, length};
    }
    std::uint32_t stated;
    std::memcpy(&stated, text, sizeof stated);
    return {text + sizeof stated, stated};
}

/// Grows without being copied, as far as the system can.
class Arena {
  public:
    [[nodiscard]] const char* data() const noexcept {
        return static_cast<const char*>(block_.data());
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Keeps a text and returns the upper half of its key. Throws std::bad_alloc, and
    /// std::runtime_error where all texts together have 2^38 bytes.
    std::uint64_t keep(std::string_view text) {
        const bool stated = text.size() >= stated_length;
        const auto length = static_cast<std::uint32_t>(text.size());
        const std::size_t place = size_;
        resize(size_ + (stated ? sizeof length : 0) + text.size());
        char* target = static_cast<char*>(block_.data()) + place;
        if (stated) {
            std::memcpy(target, &length, sizeof length);
            target += sizeof length;
        }
        std::memcpy(target, text.data(), text.size());
        const std::uint64_t shown = stated ? stated_length : length;
        return long_tag | shown << length_shift | place;
    }

  private:
    void resize(std::size_t size) {
        if (size > capacity_) {
            if (size >> place_bits != 0) {
                throw std::runtime_error(
                    "distinct pretokens above 15 bytes have 256 GiB of text in "
                    "one table; give counting a limit of memory");
            }
            const std::size_t capacity = std::max(size, capacity_ + capacity_ / 2);
            block_.resize(capacity);
            capacity_ = capacity;
        }
        size_ = size;
    }

    LargeBlock block_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace jogak
