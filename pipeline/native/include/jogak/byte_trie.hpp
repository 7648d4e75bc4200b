// A set of byte strings, walked one byte at a time: edges in one hash table, values by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace jogak {

/// Grows by insert; walking it is const and safe from several threads.
class ByteTrie {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;
    static constexpr std::uint32_t root = 0;

    ByteTrie() : keys_(64, 0), values_(64, 0), ends_(1, none) {}

    /// Puts a string in with a value (not `none`). Returns the value it had before, or `none`;
    /// then the old value stays. O(its length).
    std::uint32_t insert(std::string_view text, std::uint32_t value);

    /// The node behind `byte`, or `none`.
    [[nodiscard]] std::uint32_t child(std::uint32_t node, std::uint8_t byte) const noexcept {
        const std::uint64_t key = ((static_cast<std::uint64_t>(node) << 8) | byte) + 1;
        std::size_t slot = mix(key) & (keys_.size() - 1);
        while (keys_[slot] != 0) {
            if (keys_[slot] == key) {
                return values_[slot];
            }
            slot = (slot + 1) & (keys_.size() - 1);
        }
        return none;
    }
    /// The value of the string that ends at a node, or `none`.
    [[nodiscard]] std::uint32_t value(std::uint32_t node) const noexcept { return ends_[node]; }

  private:
    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t key) noexcept {
        return (key * 0x9E3779B97F4A7C15ULL) >> 20;
    }
    void grow();
    void place(std::uint64_t key, std::uint32_t value) noexcept;

    std::vector<std::uint64_t> keys_;   // (node << 8 | byte) + 1, 0 where free; a power of two
    std::vector<std::uint32_t> values_; // the child
    std::vector<std::uint32_t> ends_;   // by node
};

} // namespace jogak
