// pretokenize, first step: a pattern's text -> a tree. Internal to src/pretokenize*.cpp.
#pragma once

#include "jogak/unicode.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace jogak::pattern {

enum class Kind : std::uint8_t { Sequence, Choice, Class, Repeat, LookAhead };
enum class Mode : std::uint8_t { Greedy, Lazy, Possessive };

inline constexpr std::uint32_t unlimited = 0xFFFFFFFF;

/// One node of the tree. Sequence and Choice use `children` (a Sequence without children matches
/// the empty string); Class uses `set`; Repeat uses children[0], `least`, `most` and `mode`;
/// LookAhead holds where one of `set` comes next, or, if `end`, where the text ends.
struct Node {
    Kind kind = Kind::Sequence;
    Mode mode = Mode::Greedy;
    bool end = false;
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    CharacterClass set;
    std::vector<Node> children;
};

/// Parses a pattern in the dialect of tiktoken (fancy-regex), cut down to what pretokenization
/// uses: literals, classes (nested, negated, `&&`, `\p{..}`, `\s \d \w` and their negations),
/// groups, `(?i:..)`, `(?s:..)`, alternation, greedy, lazy and possessive quantifiers, `$`, `\z`
/// and look-ahead for one class. In `(?i:..)` only ASCII letters may have case; they match their
/// folds U+017F and U+212A too. Throws std::invalid_argument that names what lies outside and
/// its byte offset.
[[nodiscard]] Node parse(std::string_view pattern);

} // namespace jogak::pattern
