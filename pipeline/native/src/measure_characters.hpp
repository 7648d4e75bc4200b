// The characters of bytes that need not be UTF-8, and two questions about them.
#pragma once

#include "jogak/unicode.hpp"

#include <algorithm>
#include <string_view>

namespace jogak {

/// One character, or a stretch of bytes that are none (`code_point` is then U+FFFD).
struct Character {
    std::uint32_t code_point;
    std::size_t size;
    bool valid;
    bool cut_off; // the text ends inside this character
};

/// How many bytes a character takes that begins with this one; 0 for one that begins none.
[[nodiscard]] constexpr std::size_t character_size(std::uint8_t lead) noexcept {
    return lead < 0x80   ? 1
           : lead < 0xC2 ? 0
           : lead < 0xE0 ? 2
           : lead < 0xF0 ? 3
           : lead < 0xF5 ? 4
                         : 0;
}

/// The character that begins at a place of the text. Stretches of bytes that belong to none are
/// taken one byte at a time, but for the beginning of one at the end of the text.
[[nodiscard]] inline Character character_at(std::string_view text, std::size_t position) noexcept {
    const auto byte = [&](std::size_t at) {
        return static_cast<std::uint8_t>(text[position + at]);
    };
    const std::uint8_t lead = byte(0);
    const std::size_t size = character_size(lead);
    const std::size_t there = std::min(size, text.size() - position);
    if (size == 1) {
        return {lead, 1, true, false};
    }
    std::uint32_t code_point = lead & (0xFFU >> (size + 1));
    for (std::size_t at = 1; at < there; ++at) {
        // The second byte also rules out overlong forms, surrogates and what is above U+10FFFF.
        const std::uint8_t first = at > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const std::uint8_t last = at > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (byte(at) < first || byte(at) > last) {
            return {0xFFFD, 1, false, false};
        }
        code_point = code_point << 6 | (byte(at) & 0x3FU);
    }
    if (size == 0) {
        return {0xFFFD, 1, false, false};
    }
    return there < size ? Character{0xFFFD, there, false, true}
                        : Character{code_point, size, true, false};
}

/// Tells whether the text ends with the beginning of a character.
[[nodiscard]] inline bool ends_inside(std::string_view text) noexcept {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        if ((static_cast<std::uint8_t>(text[text.size() - back]) & 0xC0) != 0x80) {
            return character_at(text, text.size() - back).cut_off;
        }
    }
    return false;
}

/// White space as Python's str.split takes it: White_Space and U+001C-001F.
[[nodiscard]] constexpr bool is_space(std::uint32_t code_point) noexcept {
    return is_white_space(code_point) || (code_point >= 0x1C && code_point <= 0x1F);
}

[[nodiscard]] constexpr bool is_syllable(std::uint32_t code_point) noexcept {
    return code_point >= 0xAC00 && code_point <= 0xD7A3;
}

} // namespace jogak
