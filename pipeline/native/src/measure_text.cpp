#include "jogak/measure.hpp"
#include "measure_characters.hpp"

#include <algorithm>

namespace jogak {

namespace {

using Byte = std::uint8_t;

constexpr std::size_t block_bytes = 64;

constexpr bool within(std::uint32_t value, std::uint32_t first, std::uint32_t last) noexcept {
    return value >= first && value <= last;
}

/// What CP1252 or Latin-1 make of the bytes 80-BF.
bool is_western_continuation(std::uint32_t code_point) noexcept {
    constexpr std::array<std::uint32_t, 27> cp1252 = {
        0x0152, 0x0153, 0x0160, 0x0161, 0x0178, 0x017D, 0x017E, 0x0192, 0x02C6,
        0x02DC, 0x2013, 0x2014, 0x2018, 0x2019, 0x201A, 0x201C, 0x201D, 0x201E,
        0x2020, 0x2021, 0x2022, 0x2026, 0x2030, 0x2039, 0x203A, 0x20AC, 0x2122};
    return within(code_point, 0x80, 0xBF) ||
           std::binary_search(cp1252.begin(), cp1252.end(), code_point);
}

/// Up to six characters from a place on; 0 past the end.
std::array<std::uint32_t, 6> characters_from(std::string_view text, std::size_t position) noexcept {
    std::array<std::uint32_t, 6> found{};
    for (std::uint32_t& each : found) {
        if (position >= text.size()) {
            break;
        }
        const Character character = character_at(text, position);
        each = character.code_point;
        position += character.size;
    }
    return found;
}

/// The character that ends right before a place; moves the place to its start. 0 at the start.
std::uint32_t step_back(std::string_view text, std::size_t& position) noexcept {
    if (position == 0) {
        return 0;
    }
    do {
        --position;
    } while (position > 0 && (static_cast<std::uint8_t>(text[position]) & 0xC0) == 0x80);
    return character_at(text, position).code_point;
}

bool is_latin_pairs(const std::array<std::uint32_t, 6>& next) noexcept {
    const auto letters = std::count_if(next.begin(), next.begin() + 4,
                                       [](std::uint32_t each) { return each >= 0xC0; });
    return within(next[0], 0xB0, 0xC8) && within(next[1], 0xA1, 0xFE) &&
           within(next[2], 0xB0, 0xC8) && within(next[3], 0xA1, 0xFE) && letters >= 2;
}

bool is_western_triples(const std::array<std::uint32_t, 6>& next) noexcept {
    return within(next[0], 0xEA, 0xED) && is_western_continuation(next[1]) &&
           is_western_continuation(next[2]) && within(next[3], 0xEA, 0xED) &&
           is_western_continuation(next[4]) && is_western_continuation(next[5]);
}

bool is_han(std::uint32_t code_point) noexcept { return within(code_point, 0x4E00, 0x9FFF); }

/// What a trace that begins at a place of a document says.
std::uint8_t judge(std::string_view text, std::size_t position) noexcept {
    const auto next = characters_from(text, position);
    std::size_t place = position;
    if (within(next[0], 0x1100, 0x1112)) {
        return within(next[1], 0x1161, 0x1175) ? decomposed_hangul : 0;
    }
    if (within(next[0], 0x11A8, 0x11C2)) {
        const std::uint32_t before = step_back(text, place);
        return is_syllable(before) && (before - 0xAC00) % 28 == 0 ? decomposed_hangul : 0;
    }
    bool found = false;
    if (next[0] == 0xFFFD) {
        const std::uint32_t before = step_back(text, place);
        found = (within(next[1], 0x180, 0x7FF) && next[2] == 0xFFFD) ||
                (is_syllable(next[1]) && is_han(next[2])) ||
                (is_han(before) && is_syllable(step_back(text, place)));
    } else if (next[0] == 0x5360) {
        found = next[1] == 0xC3D9 && next[2] == 0xC619;
    } else {
        found = is_latin_pairs(next) || is_western_triples(next);
    }
    return found ? mojibake : 0;
}

/// Sets to 0 what stands for the bytes of a block where a trace may begin, by up to two bytes
/// behind them: jamo, U+FFFD, U+5360, two of Latin-1, and what EA-ED look like in it. A syllable
/// before a Han character or a jamo is met from its neighbour instead. Returns whether there are
/// any. The least of differences, since the compiler makes branches of comparisons joined by `or`.
bool find_traces(const Byte* __restrict text, Byte* __restrict differences) noexcept {
    const auto least = [](Byte left, Byte right) { return left < right ? left : right; };
    Byte all = 0xFF;
    for (std::size_t at = 0; at < block_bytes; ++at) {
        const Byte first = text[at];
        const Byte second = text[at + 1];
        const Byte third = text[at + 2];
        const Byte jamo = (first ^ 0xE1) | ((second & 0xFC) ^ 0x84);
        const Byte replacement = (first ^ 0xEF) | (second ^ 0xBF);
        const Byte twice_lost = (first ^ 0xE5) | (second ^ 0x8D);
        const Byte from_ea = (first ^ 0xC3) | (static_cast<Byte>(second - 0xAA) & 0xFC);
        const Byte latin = ((first & 0xFE) ^ 0xC2) | ((third & 0xFE) ^ 0xC2);
        const Byte korean = least(least(jamo, replacement), twice_lost);
        differences[at] = least(korean, least(from_ea, latin));
        all = least(all, differences[at]);
    }
    return all == 0;
}

} // namespace

std::vector<std::uint8_t> inspect_text(const Documents& documents) {
    std::vector<std::uint8_t> found(documents.size());
    if (found.empty()) {
        return found;
    }
    const auto end = static_cast<std::size_t>(documents.offsets.back());
    std::size_t index = 0;
    std::array<Byte, block_bytes> differences{};
    for (auto block = static_cast<std::size_t>(documents.offsets.front()); block < end;
         block += block_bytes) {
        std::array<Byte, block_bytes + 2> last{}; // the rest, and what cannot be a trace
        const Byte* text = documents.data.data() + block;
        if (end - block < last.size()) {
            std::copy_n(text, end - block, last.begin());
            text = last.data();
        }
        if (!find_traces(text, differences.data())) {
            continue;
        }
        for (std::size_t at = 0; at < block_bytes; ++at) {
            if (differences[at] != 0) {
                continue;
            }
            while (documents.offsets[index + 1] <= static_cast<std::int64_t>(block + at)) {
                ++index;
            }
            const auto begin = static_cast<std::size_t>(documents.offsets[index]);
            found[index] |= judge(documents[index], block + at - begin);
        }
    }
    return found;
}

} // namespace jogak
