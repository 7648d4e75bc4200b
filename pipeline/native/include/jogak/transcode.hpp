// transcode: code points of one, two or four bytes each, as Python keeps them -> UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jogak {

/// The most bytes of UTF-8 that a code point takes which is kept in a `Unit`.
template <typename Unit>
inline constexpr std::size_t most_utf8 = sizeof(Unit) == 4   ? 4
                                         : sizeof(Unit) == 2 ? 3
                                                             : 2;

/// What `write_utf8` may write past the end of the text's UTF-8.
inline constexpr std::size_t utf8_slack = 4;

/// Writes text as UTF-8 and returns where the next byte goes; nullptr where a code point is a
/// surrogate or above U+10FFFF. `Unit` is std::uint8_t (Latin-1), std::uint16_t or std::uint32_t;
/// most_utf8<Unit> bytes a code point and utf8_slack more must be writable. O(n).
template <typename Unit>
[[nodiscard]] std::uint8_t* write_utf8(std::span<const Unit> text, std::uint8_t* out) noexcept;

} // namespace jogak
