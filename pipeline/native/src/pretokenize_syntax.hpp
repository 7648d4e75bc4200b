// pretokenize, first step: literals, escapes and classes of a pattern. Internal to
// src/pretokenize*.cpp.
#pragma once

#include "jogak/unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jogak::pattern {

struct Flags {
    bool ignore_case = false;
    bool dot_matches_newline = false;
};

/// A place in a pattern's text.
class Reader {
  public:
    explicit Reader(std::string_view pattern) : pattern_(pattern) {}

    [[nodiscard]] bool done() const noexcept { return position_ == pattern_.size(); }
    /// The next byte; only where not done().
    [[nodiscard]] char peek() const noexcept { return pattern_[position_]; }
    [[nodiscard]] bool sees(std::string_view text) const noexcept {
        return pattern_.substr(position_).starts_with(text);
    }
    void skip(std::size_t bytes) noexcept { position_ += bytes; }
    bool take(char c) noexcept { return take(std::string_view{&c, 1}); }
    bool take(std::string_view text) noexcept {
        const bool found = sees(text);
        position_ += found ? text.size() : 0;
        return found;
    }
    /// Decodes and takes one code point; fails on invalid UTF-8.
    std::uint32_t take_code_point();
    /// Throws std::invalid_argument: what is outside the subset, and where.
    [[noreturn]] void fail(const std::string& what) const;

  private:
    std::string_view pattern_;
    std::size_t position_ = 0;
};

/// The class of one literal code point under the flags.
[[nodiscard]] CharacterClass literal_class(const Reader& reader, std::uint32_t code_point,
                                           Flags flags);
/// Takes one escape (the reader sees its backslash).
[[nodiscard]] CharacterClass parse_escape(Reader& reader, Flags flags);
/// Takes one bracketed class (the reader sees its '[').
[[nodiscard]] CharacterClass parse_class(Reader& reader, Flags flags);

} // namespace jogak::pattern
