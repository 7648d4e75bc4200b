// pretokenize, last step: running an automaton over a text. Internal to src/pretokenize*.cpp.
#pragma once

#include "pretokenize_automaton.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jogak::pattern {

struct Character {
    Atom atom;
    std::size_t bytes;
};

// Reads the character at `at`. Bytes that are not UTF-8 are outside the contract, but must not
// lead outside the text or the tables: each is taken as a character of its own.
[[nodiscard]] inline Character read_character(const Atoms& atoms, std::string_view text,
                                              std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
    };
    const std::uint32_t lead = byte(0);
    const std::size_t left = text.size() - at;
    if (lead < 0x80) {
        return {atoms.ascii[lead], 1};
    }
    if (lead < 0xE0 && left >= 2) {
        return {atoms[(lead & 0x1FU) << 6U | (byte(1) & 0x3FU)], 2};
    }
    if (lead < 0xF0 && left >= 3) {
        return {atoms[(lead & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU)], 3};
    }
    const std::uint32_t code = left < 4 ? last_code_point + 1
                                        : (lead & 0x7U) << 18U | (byte(1) & 0x3FU) << 12U |
                                              (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU);
    return code > last_code_point ? Character{atoms[last_code_point], 1}
                                  : Character{atoms[code], 4};
}

/// Scans as Scanner::scan does, one pretoken after the other: the truth that every faster way must
/// equal.
[[nodiscard]] std::size_t scan_with(const Automaton& automaton, std::string_view text,
                                    std::size_t start, std::uint32_t* ends,
                                    std::size_t capacity) noexcept;

} // namespace jogak::pattern
