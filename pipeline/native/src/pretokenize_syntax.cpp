#include "pretokenize_syntax.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr int deepest_class = 50;

// ASCII letters and their simple case folds: U+017F folds to s, U+212A to k.
CharacterClass with_both_cases(const CharacterClass& set) {
    CharacterClass all = set;
    for (std::uint32_t lower = 'a'; lower <= 'z'; ++lower) {
        if (contains(set, lower) || contains(set, lower - 'a' + 'A')) {
            all.push_back({lower, lower});
            all.push_back({lower - 'a' + 'A', lower - 'a' + 'A'});
            if (lower == 's') {
                all.push_back({0x17F, 0x17F});
            } else if (lower == 'k') {
                all.push_back({0x212A, 0x212A});
            }
        }
    }
    return normalized(std::move(all));
}

// Everything outside ASCII that case folding could touch, and more.
CharacterClass maybe_cased() {
    CharacterClass set;
    for (const char* name : {"Lu", "Ll", "Lt", "Lm", "Mn", "Nl", "So"}) {
        set = unite(set, property_class(name));
    }
    return intersect(set, {{0x80, last_code_point}});
}

CharacterClass folded(const Reader& reader, CharacterClass set, Flags flags) {
    if (!flags.ignore_case) {
        return set;
    }
    const CharacterClass cased = maybe_cased();
    const CharacterClass touched = intersect(set, cased);
    if (!touched.empty() && touched != cased) {
        reader.fail("a character beyond ASCII that has case, inside (?i:..)");
    }
    return with_both_cases(set);
}

// One escape: a single code point (which may begin a range) or a class.
struct Escape {
    std::optional<std::uint32_t> code_point;
    CharacterClass set;
};

std::uint32_t take_hex(Reader& reader, std::size_t digits) {
    const bool braced = reader.take('{');
    std::uint32_t value = 0;
    std::size_t taken = 0;
    while (!reader.done() && taken < (braced ? 8 : digits)) {
        const char c = reader.peek();
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            break;
        }
        value = value * 16 + static_cast<std::uint32_t>(digit);
        reader.skip(1);
        ++taken;
    }
    const bool closed = braced ? taken > 0 && reader.take('}') : taken == digits;
    if (!closed || value > last_code_point) {
        reader.fail("a malformed hexadecimal escape");
    }
    return value;
}

CharacterClass take_property(Reader& reader, bool negative) {
    std::string name;
    if (reader.take('{')) {
        negative = reader.take('^') != negative;
        while (!reader.done() && reader.peek() != '}') {
            name.push_back(reader.peek());
            reader.skip(1);
        }
        if (!reader.take('}')) {
            reader.fail("a \\p{ that is never closed");
        }
    } else if (!reader.done()) {
        name.push_back(reader.peek());
        reader.skip(1);
    }
    try {
        const CharacterClass set = property_class(name);
        return negative ? complement(set) : set;
    } catch (const std::invalid_argument& error) {
        reader.fail(error.what());
    }
}

Escape take_escape(Reader& reader) {
    reader.skip(1);
    if (reader.done()) {
        reader.fail("a backslash at the end");
    }
    const char c = reader.peek();
    reader.skip(1);
    switch (c) {
    case 'n':
        return {'\n', {}};
    case 'r':
        return {'\r', {}};
    case 't':
        return {'\t', {}};
    case 'f':
        return {'\f', {}};
    case 'v':
        return {'\v', {}};
    case 'x':
        return {take_hex(reader, 2), {}};
    case 'u':
        return {take_hex(reader, 4), {}};
    case 'U':
        return {take_hex(reader, 8), {}};
    case 'p':
        return {std::nullopt, take_property(reader, false)};
    case 'P':
        return {std::nullopt, take_property(reader, true)};
    case 's':
        return {std::nullopt, space_class()};
    case 'S':
        return {std::nullopt, complement(space_class())};
    case 'd':
        return {std::nullopt, digit_class()};
    case 'D':
        return {std::nullopt, complement(digit_class())};
    case 'w':
        return {std::nullopt, word_class()};
    case 'W':
        return {std::nullopt, complement(word_class())};
    default:
        break;
    }
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric || static_cast<unsigned char>(c) >= 0x80) {
        reader.fail("the escape \\" + std::string(1, c));
    }
    return {static_cast<unsigned char>(c), {}};
}

Escape take_class_item(Reader& reader) {
    if (reader.peek() == '\\') {
        return take_escape(reader);
    }
    return {reader.take_code_point(), {}};
}

CharacterClass take_range_or_item(Reader& reader) {
    const Escape first = take_class_item(reader);
    if (!first.code_point) {
        return first.set;
    }
    const bool range =
        reader.sees("-") && !reader.sees("-]") && !reader.sees("-[") && !reader.sees("--");
    if (!range) {
        return {{*first.code_point, *first.code_point}};
    }
    reader.skip(1);
    if (reader.done()) {
        reader.fail("a '[' that is never closed");
    }
    const Escape last = take_class_item(reader);
    if (!last.code_point || *last.code_point < *first.code_point) {
        reader.fail("a malformed range in a class");
    }
    return {{*first.code_point, *last.code_point}};
}

CharacterClass class_at_depth(Reader& reader, Flags flags, int depth) {
    if (depth > deepest_class) {
        reader.fail("classes nested too deep");
    }
    reader.skip(1);
    const bool negative = reader.take('^');
    CharacterClass operand;
    std::optional<CharacterClass> left;
    for (bool first = true; first || !reader.take(']'); first = false) {
        if (reader.done()) {
            reader.fail("a '[' that is never closed");
        }
        if (reader.sees("[:")) {
            reader.fail("a POSIX class [:..:]");
        }
        if (reader.sees("--") || reader.sees("~~")) {
            reader.fail("the class operator " + std::string(2, reader.peek()));
        }
        if (reader.take("&&")) {
            left = left ? intersect(*left, operand) : operand;
            operand.clear();
        } else if (reader.peek() == '[') {
            operand = unite(operand, class_at_depth(reader, flags, depth + 1));
        } else {
            operand = unite(operand, folded(reader, take_range_or_item(reader), flags));
        }
    }
    const CharacterClass set = left ? intersect(*left, operand) : operand;
    return negative ? complement(set) : set;
}

} // namespace

std::uint32_t Reader::take_code_point() {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
        return position_ + i < pattern_.size() ? static_cast<unsigned char>(pattern_[position_ + i])
                                               : 0;
    };
    const std::uint32_t lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    bool valid = lead < 0x80 || (lead >= 0xC2 && lead < 0xF5);
    for (std::size_t i = 1; i < length; ++i) {
        valid = valid && (byte(i) & 0xC0U) == 0x80;
        code = code << 6U | (byte(i) & 0x3FU);
    }
    if (!valid) {
        fail("bytes that are not UTF-8");
    }
    position_ += length;
    return code;
}

void Reader::fail(const std::string& what) const {
    throw std::invalid_argument(what + ", at or before byte " + std::to_string(position_) +
                                " of the pattern");
}

CharacterClass literal_class(const Reader& reader, std::uint32_t code_point, Flags flags) {
    return folded(reader, {{code_point, code_point}}, flags);
}

CharacterClass parse_escape(Reader& reader, Flags flags) {
    const Escape escape = take_escape(reader);
    CharacterClass set = escape.set;
    if (escape.code_point) {
        set = {{*escape.code_point, *escape.code_point}};
    }
    return folded(reader, std::move(set), flags);
}

CharacterClass parse_class(Reader& reader, Flags flags) { return class_at_depth(reader, flags, 0); }

} // namespace jogak::pattern
