#include "jogak/cut_kernel.hpp"

namespace jogak {

namespace {

bool continues(std::uint8_t byte) noexcept { return (byte & 0xC0) == 0x80; }
bool leads_three(std::uint8_t byte) noexcept { return (byte & 0xF0) == 0xE0; }

/// A code point from 80 on: an overlong form must not pass for ASCII.
std::uint32_t decode_three(const std::uint8_t* bytes) noexcept {
    const std::uint32_t code =
        (bytes[0] & 0x0FU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
    return code < 0x80 ? 0x80 : code;
}

} // namespace

void find_cuts_scalar(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
                      std::size_t begin, std::size_t size, std::uint64_t* bits) noexcept {
    for (std::size_t word = 0; word < (size + 63) / 64; ++word) {
        bits[word] = 0;
    }
    // The class of the character before `at`; 0 where it is no character of one or three bytes.
    std::uint32_t before = 0;
    std::size_t at = begin;
    // From the start of the character that ends at or after `begin`, for its class.
    for (int back = 0; back < 3 && at > 0; ++back) {
        --at;
        if (!continues(text[at])) {
            break;
        }
    }
    const std::size_t end = begin + size;
    while (at < end) {
        std::uint32_t code = 0;
        std::size_t length = 1;
        if (text[at] < 0x80) {
            code = text[at];
        } else if (leads_three(text[at]) && at + 3 <= text_size && continues(text[at + 1]) &&
                   continues(text[at + 2])) {
            code = decode_three(text + at);
            length = 3;
        } else {
            before = 0;
            ++at;
            continue;
        }
        const std::uint32_t found = tables.classes[code];
        const std::size_t bit = (before & 0xFFFF) * tables.row_bits + (found >> 16);
        const std::uint64_t cut = ~(tables.joined[bit / 64] >> (bit % 64)) & 1;
        if (at >= begin) {
            bits[(at - begin) / 64] |= cut << ((at - begin) % 64);
        }
        before = found;
        at += length;
    }
}

} // namespace jogak
