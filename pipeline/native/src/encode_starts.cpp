// What a boundary table answers about units; encode_boundaries.cpp makes it.
#include "encode_edges.hpp"

namespace jogak {

using namespace edges;

/// A character of a unit, or a byte of one that is not told apart.
struct BoundaryTable::Character {
    std::size_t length = 1;
    std::uint32_t classes = 0;
    Symbol symbol = no_symbol; // no_symbol: it starts as bytes
};

BoundaryTable::Character BoundaryTable::character(const std::uint8_t* bytes,
                                                  std::size_t size) const noexcept {
    if (bytes[0] < 0x80) {
        return {1, classes_[bytes[0]], bytes[0]};
    }
    if (size >= 3 && leads_three(bytes[0]) && continues(bytes[1]) && continues(bytes[2])) {
        // An overlong form must not pass for ASCII.
        const std::uint32_t code = std::max(decode_three(bytes), 0x80U);
        return {3, classes_[code], characters_[code]};
    }
    return {};
}

std::size_t BoundaryTable::start(const std::uint8_t* bytes, std::size_t size,
                                 Symbol* symbols) const noexcept {
    std::size_t count = 0;
    const auto write = [&](const Character& held, std::size_t begin) {
        if (held.symbol != no_symbol) {
            symbols[count++] = held.symbol;
            return;
        }
        for (std::size_t i = begin; i < begin + held.length; ++i) {
            symbols[count++] = bytes[i];
        }
    };
    // A character is written when the one behind it has been seen.
    Character held = character(bytes, size);
    std::size_t begin = 0;
    for (std::size_t at = held.length; at < size;) {
        Character next = character(bytes + at, size - at);
        const std::size_t row = held.classes & 0xFFFF;
        const std::size_t column = next.classes >> 16;
        if (held.symbol >= first_merged_symbol && left_parts_.test(row, column)) {
            held.symbol = no_symbol;
        }
        if (next.symbol >= first_merged_symbol && right_parts_.test(column, row)) {
            next.symbol = no_symbol;
        }
        write(held, begin);
        held = next;
        begin = at;
        at += next.length;
    }
    write(held, begin);
    return count;
}

std::size_t BoundaryTable::memory_bytes() const noexcept {
    return (classes_.size() + characters_.size()) * sizeof(std::uint32_t) +
           joined_.size() * sizeof(joined_[0]) + left_parts_.memory_bytes() +
           right_parts_.memory_bytes();
}

} // namespace jogak
