#include "jogak/normalize.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace jogak {

namespace {

using Byte = std::uint8_t;

constexpr std::size_t chunk_bytes = 2048;
constexpr std::size_t back = 2;  // bytes of context that a position looks back ...
constexpr std::size_t ahead = 2; // ... and ahead: the longest white space has three bytes

/// What is known of each byte of a chunk: 1 or 0.
struct ByteFlags {
    std::array<Byte, chunk_bytes> starts_character;
    std::array<Byte, chunk_bytes> is_space; // part of a white-space character
    std::array<Byte, chunk_bytes> starts_word;
};

// Comparisons as bytes: with bool the compiler makes branches of `&` and `|` instead of vectors.
Byte equal(Byte left, Byte right) noexcept { return left == right ? 1 : 0; }
Byte within(Byte byte, Byte first, Byte last) noexcept {
    return static_cast<Byte>(byte - first) <= static_cast<Byte>(last - first) ? 1 : 0;
}

/// Flags `size` bytes; text[-back, size + ahead) must be readable. In valid UTF-8 the bytes of
/// other characters cannot look like a part of a white-space character, so a byte is judged
/// without knowing where characters begin: first where white space ends, then which bytes it has.
void flag_bytes(const Byte* __restrict text, std::size_t size, ByteFlags& flags) noexcept {
    std::array<Byte, chunk_bytes + ahead> ends2;
    std::array<Byte, chunk_bytes + ahead> ends3;
    for (std::size_t i = 0; i < size + ahead; ++i) {
        const Byte first = text[i - 2];
        const Byte second = text[i - 1];
        const Byte third = text[i];
        // U+0085, U+00A0
        ends2[i] = equal(second, 0xC2) & (equal(third, 0x85) | equal(third, 0xA0));
        // U+1680; U+2000-200A, U+2028, U+2029, U+202F; U+205F; U+3000
        const Byte ogham = equal(first, 0xE1) & equal(second, 0x9A) & equal(third, 0x80);
        const Byte general =
            equal(first, 0xE2) & equal(second, 0x80) &
            (within(third, 0x80, 0x8A) | within(third, 0xA8, 0xA9) | equal(third, 0xAF));
        const Byte mathematical = equal(first, 0xE2) & equal(second, 0x81) & equal(third, 0x9F);
        const Byte ideographic = equal(first, 0xE3) & equal(second, 0x80) & equal(third, 0x80);
        ends3[i] = ogham | general | mathematical | ideographic;
    }
    for (std::size_t i = 0; i < size; ++i) {
        const Byte ascii = within(text[i], 0x09, 0x0D) | within(text[i], 0x1C, 0x20);
        flags.is_space[i] =
            ascii | ends2[i] | ends2[i + 1] | ends3[i] | ends3[i + 1] | ends3[i + 2];
        flags.starts_character[i] = equal(text[i] & 0xC0, 0x80) ^ 1;
    }
}

/// Sum of bytes that are 0 or 1.
std::int64_t sum_flags(const Byte* flags, std::size_t size) noexcept {
    std::int64_t total = 0;
    std::size_t position = 0;
    while (position + 8 <= size) {
        // Eight lanes of 8 bits hold up to 255 additions.
        const std::size_t words = std::min<std::size_t>((size - position) / 8, 255);
        std::uint64_t lanes = 0;
        for (std::size_t i = 0; i < words; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, flags + position + 8 * i, 8);
            lanes += word;
        }
        const std::uint64_t even = lanes & 0x00FF00FF00FF00FFU;
        const std::uint64_t odd = (lanes >> 8) & 0x00FF00FF00FF00FFU;
        total += static_cast<std::int64_t>(((even + odd) * 0x0001000100010001U) >> 48);
        position += 8 * words;
    }
    for (; position < size; ++position) {
        total += flags[position];
    }
    return total;
}

/// Flags the bytes data[begin, begin + size); `before_is_space` is that of the byte before them.
void flag_chunk(std::span<const Byte> data, std::size_t begin, std::size_t size,
                Byte before_is_space, ByteFlags& flags) noexcept {
    std::array<Byte, back + chunk_bytes + ahead> padded{};
    const std::size_t lead = std::min(back, begin);
    const std::size_t tail = std::min(ahead, data.size() - begin - size);
    std::memcpy(padded.data() + back - lead, data.data() + begin - lead, lead + size + tail);
    flag_bytes(padded.data() + back, size, flags);
    flags.starts_word[0] = static_cast<Byte>(before_is_space & ~flags.is_space[0] & 1);
    for (std::size_t i = 1; i < size; ++i) {
        flags.starts_word[i] = static_cast<Byte>(flags.is_space[i - 1] & ~flags.is_space[i] & 1);
    }
}

} // namespace

TextMeasures measure_text(const Documents& documents) {
    TextMeasures measures{std::vector<std::int64_t>(documents.size()),
                          std::vector<std::int64_t>(documents.size())};
    if (documents.size() == 0) {
        return measures;
    }
    const auto end = static_cast<std::size_t>(documents.offsets.back());
    auto chunk = static_cast<std::size_t>(documents.offsets.front());
    ByteFlags flags{};
    std::size_t index = 0;
    for (Byte before = 1; chunk < end; chunk += chunk_bytes) {
        const std::size_t size = std::min(chunk_bytes, end - chunk);
        flag_chunk(documents.data, chunk, size, before, flags);
        before = flags.is_space[size - 1];
        // Add up the part of this chunk that belongs to each document.
        for (std::size_t position = 0; position < size;) {
            const auto begin = static_cast<std::size_t>(documents.offsets[index]);
            const auto stop = static_cast<std::size_t>(documents.offsets[index + 1]);
            const std::size_t part = std::min(stop - chunk, size) - position;
            measures.characters[index] += sum_flags(flags.starts_character.data() + position, part);
            measures.eojeol[index] += sum_flags(flags.starts_word.data() + position, part);
            if (part > 0 && begin == chunk + position) {
                // Whatever ends the document before, a word may start here.
                measures.eojeol[index] +=
                    1 - flags.is_space[position] - flags.starts_word[position];
            }
            position += part;
            if (stop <= chunk + position) {
                ++index;
            }
        }
    }
    return measures;
}

} // namespace jogak
