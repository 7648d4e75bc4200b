#include "jogak/transcode.hpp"

#include <bit>
#include <cstring>

namespace jogak {

namespace {

/// The bytes of one code point, the first in the lowest bits, and how many they are. Both are
/// chosen without branches: in Korean text, where spaces come is as good as random.
struct Encoded {
    std::uint32_t bytes;
    std::size_t size;
};

constexpr Encoded encode(std::uint32_t code) noexcept {
    const std::uint32_t last = 0x80U | (code & 0x3FU);
    const std::uint32_t middle = 0x80U | ((code >> 6) & 0x3FU);
    const std::uint32_t two = (0xC0U | code >> 6) | last << 8;
    const std::uint32_t three = (0xE0U | code >> 12) | middle << 8 | last << 16;
    const std::uint32_t bytes = code < 0x80 ? code : code < 0x800 ? two : three;
    return {bytes, std::size_t{1} + (code >= 0x80 ? 1 : 0) + (code >= 0x800 ? 1 : 0)};
}

std::uint8_t* write_four(std::uint32_t code, std::uint8_t* out) noexcept {
    out[0] = static_cast<std::uint8_t>(0xF0U | code >> 18);
    out[1] = static_cast<std::uint8_t>(0x80U | ((code >> 12) & 0x3FU));
    out[2] = static_cast<std::uint8_t>(0x80U | ((code >> 6) & 0x3FU));
    out[3] = static_cast<std::uint8_t>(0x80U | (code & 0x3FU));
    return out + 4;
}

} // namespace

template <typename Unit>
std::uint8_t* write_utf8(std::span<const Unit> text, std::uint8_t* out) noexcept {
    static_assert(std::endian::native == std::endian::little);
    bool encodable = true;
    for (const std::uint32_t code : text) {
        if constexpr (sizeof(Unit) > 1) {
            encodable = encodable && (code & 0xFFFFF800U) != 0xD800;
        }
        if constexpr (sizeof(Unit) > 2) {
            encodable = encodable && code <= 0x10FFFF;
            if (code >= 0x10000) {
                out = write_four(code, out);
                continue;
            }
        }
        const Encoded encoded = encode(code);
        std::memcpy(out, &encoded.bytes, sizeof(encoded.bytes));
        out += encoded.size;
    }
    return encodable ? out : nullptr;
}

template std::uint8_t* write_utf8(std::span<const std::uint8_t>, std::uint8_t*) noexcept;
template std::uint8_t* write_utf8(std::span<const std::uint16_t>, std::uint8_t*) noexcept;
template std::uint8_t* write_utf8(std::span<const std::uint32_t>, std::uint8_t*) noexcept;

} // namespace jogak
