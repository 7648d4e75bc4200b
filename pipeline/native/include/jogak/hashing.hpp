// Hashing of short byte strings: one 64 x 64 -> 128 bit product per 16 bytes, halves folded.
// Source: the "mum" step of wyhash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jogak {

[[nodiscard]] inline std::uint64_t load64(const std::uint8_t* bytes) noexcept {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

[[nodiscard]] inline std::uint32_t load32(const std::uint8_t* bytes) noexcept {
    std::uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

[[nodiscard]] inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t hash_constant_a = 0xa0761d6478bd642fU;
inline constexpr std::uint64_t hash_constant_b = 0xe7037ed1a0b428dbU;

/// For tables built from a vocabulary, whose keys are no stranger's choice; reads only [0, size).
[[nodiscard]] inline std::uint64_t hash_bytes(const std::uint8_t* bytes,
                                              std::size_t size) noexcept {
    std::uint64_t state = size * hash_constant_b;
    for (; size > 16; bytes += 16, size -= 16) {
        state = fold_product(load64(bytes) ^ hash_constant_a, load64(bytes + 8) ^ state);
    }
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (size >= 8) {
        low = load64(bytes);
        high = load64(bytes + size - 8);
    } else if (size >= 4) {
        low = load32(bytes);
        high = load32(bytes + size - 4);
    } else if (size > 0) {
        low = static_cast<std::uint64_t>(bytes[0]) << 16 |
              static_cast<std::uint64_t>(bytes[size / 2]) << 8 | bytes[size - 1];
    }
    return fold_product(low ^ hash_constant_a, high ^ state ^ hash_constant_b);
}

} // namespace jogak
