// Keys of the table of pretokens: up to 15 bytes of text, or a hash of more. Private to count.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace jogak {

static_assert(std::endian::native == std::endian::little, "keys are loaded as little-endian words");

__extension__ using Wide = unsigned __int128;

inline constexpr std::size_t inline_bytes = 15;
inline constexpr std::uint64_t long_tag = std::uint64_t{0xFF} << 56;

/// 15 bytes of text with the length in the top byte of `high`; for longer text, `low` is the hash
/// and `high` is long_tag plus where the text lies (see count_arena.hpp).
struct Key {
    std::uint64_t low;
    std::uint64_t high;
};

[[nodiscard]] inline std::uint64_t load(const char* text) noexcept {
    std::uint64_t word;
    std::memcpy(&word, text, sizeof word);
    return word;
}

/// Folded 128-bit product, the mixing step of wyhash (public domain, Wang Yi).
[[nodiscard]] inline std::uint64_t mix(std::uint64_t left, std::uint64_t right) noexcept {
    const Wide product =
        static_cast<Wide>(left ^ 0xA0761D6478BD642FU) * (right ^ 0xE7037ED1A0B428DBU);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// masks[n + 8] keeps of a text's first 8 bytes what lies within n bytes, masks[n] of its next 8.
inline constexpr std::array<std::uint64_t, 24> masks = [] {
    std::array<std::uint64_t, 24> made{};
    for (std::size_t i = 8; i < made.size(); ++i) {
        made[i] = i >= 16 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * (i - 8))) - 1;
    }
    return made;
}();

[[nodiscard]] inline Key short_key(const char* text, std::size_t size, const char* end) noexcept {
    std::array<char, 16> padded{};
    if (end - text < 16) {
        std::memcpy(padded.data(), text, size);
        text = padded.data();
    }
    // Masks instead of a branch on the size, which nothing predicts.
    return {load(text) & masks[size + 8],
            (load(text + 8) & masks[size]) | static_cast<std::uint64_t>(size) << 56};
}

/// Whether texts above 15 bytes are equal. Most of them have few more.
[[nodiscard]] inline bool equal_long(std::string_view left, std::string_view right) noexcept {
    const std::size_t size = left.size();
    if (size != right.size()) {
        return false;
    }
    if (size > 32) {
        return left == right;
    }
    const auto differs = [&](std::size_t at) {
        return load(left.data() + at) ^ load(right.data() + at);
    };
    return (differs(0) | differs(8) | differs(size - 16) | differs(size - 8)) == 0;
}

[[nodiscard]] inline std::uint64_t long_hash(const char* text, std::size_t size) noexcept {
    std::uint64_t hash = size;
    for (std::size_t i = 0; i + 16 < size; i += 16) {
        hash = mix(load(text + i) ^ hash, load(text + i + 8));
    }
    return mix(load(text + size - 16) ^ hash, load(text + size - 8));
}

} // namespace jogak
