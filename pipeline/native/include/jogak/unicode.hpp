// Unicode 16: general categories, scripts and the classes that patterns name.
// Source: the Unicode Character Database 16.0.0, through unicode_tables.cpp (generated).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace jogak {

/// Inclusive range of code points.
struct CodePointRange {
    std::uint32_t first;
    std::uint32_t last;
    friend bool operator==(const CodePointRange&, const CodePointRange&) = default;
    friend auto operator<=>(const CodePointRange&, const CodePointRange&) = default;
};

/// A set of code points: ascending ranges that neither overlap nor touch.
using CharacterClass = std::vector<CodePointRange>;

inline constexpr std::uint32_t last_code_point = 0x10FFFF;

/// The version of the tables, e.g. "16.0.0".
[[nodiscard]] std::string_view unicode_version() noexcept;

/// General category in the order of `category_names`: Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe
/// Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn.
enum class Category : std::uint8_t {
    // clang-format off
    Lu, Ll, Lt, Lm, Lo, Mn, Mc, Me, Nd, Nl, No, Pc, Pd, Ps, Pe, Pi, Pf, Po,
    Sm, Sc, Sk, So, Zs, Zl, Zp, Cc, Cf, Cs, Co, Cn
    // clang-format on
};

/// The category of one code point (0..10FFFF; anything above is Cn). O(log of the table).
[[nodiscard]] Category general_category(std::uint32_t code_point) noexcept;

/// White_Space: the 25 code points that `\s` matches.
[[nodiscard]] constexpr bool is_white_space(std::uint32_t code_point) noexcept {
    return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x20 || code_point == 0x85 ||
           code_point == 0xA0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
           code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
           code_point == 0x3000;
}

/// The class that `\p{name}` means: a general category (`L`, `Lu`, `Letter`, `gc=Lu`), a script
/// (`Han`, `Script=Han`, `sc=Han`; those of `script_names` in the tables), `White_Space`, `Any`,
/// `ASCII` or `Assigned`. Case, spaces, hyphens and underscores do not count (UAX 44, LM3).
/// Throws std::invalid_argument that names the property when it is unknown.
[[nodiscard]] CharacterClass property_class(std::string_view name);

/// `\s`, `\d` and `\w` as the Rust regex crate (and so tiktoken) defines them: White_Space; Nd;
/// Alphabetic, M, Nd, Pc and Join_Control (UTS 18, annex C).
[[nodiscard]] CharacterClass space_class();
[[nodiscard]] CharacterClass digit_class();
[[nodiscard]] CharacterClass word_class();

/// Set algebra; each O(ranges).
[[nodiscard]] CharacterClass normalized(CharacterClass ranges);
[[nodiscard]] CharacterClass complement(const CharacterClass& set);
[[nodiscard]] CharacterClass unite(const CharacterClass& left, const CharacterClass& right);
[[nodiscard]] CharacterClass intersect(const CharacterClass& left, const CharacterClass& right);
[[nodiscard]] bool contains(const CharacterClass& set, std::uint32_t code_point) noexcept;

/// What unicode_tables.cpp holds: runs of equal values, ascending, each packed as
/// (first code point << 8) | value, the first run beginning at 0.
namespace unicode_tables {
extern const std::string_view version;
extern const std::span<const std::uint32_t> category_runs;
extern const std::span<const std::uint32_t> script_runs;
/// Value 0 of `script_runs` means none of these; value i + 1 means script_names[i].
extern const std::span<const std::string_view> script_names;
} // namespace unicode_tables

} // namespace jogak
