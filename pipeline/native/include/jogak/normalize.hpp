// normalize: UTF-8 validity, measuring of text, and normal forms (UAX #15, Unicode 16).
// Every function is re-entrant and takes whole documents: a normal form is a property of a whole
// document, never of a chunk of it (U+AC00 | U+11A8 compose across any edge).
#pragma once

#include "jogak/text.hpp"

#include <vector>

namespace jogak {

/// Returns the offset of the first byte of `text` that is not part of valid UTF-8, or -1.
/// Domain: any bytes. Valid is what Unicode 16, table 3-7, calls well-formed: no surrogates, no
/// overlong forms, nothing above U+10FFFF. The offset is that of the first byte of the ill-formed
/// sequence, as in Python's UnicodeDecodeError.start. O(n).
[[nodiscard]] std::int64_t find_invalid_utf8(std::string_view text) noexcept;

/// find_invalid_utf8 of every document: offsets within the document, -1 where it is valid.
/// Domain: any bytes. O(n), a few GB/s when all are valid.
[[nodiscard]] std::vector<std::int64_t> validate_utf8(const Documents& documents);

/// Characters and eojeol (white-space words) of every document.
struct TextMeasures {
    std::vector<std::int64_t> characters; // code points
    std::vector<std::int64_t> eojeol;     // len(text.split()) of Python: its 29 white-space
                                          // code points separate words
};

/// Measures documents of valid UTF-8. O(n), branch-free over the text.
[[nodiscard]] TextMeasures measure_text(const Documents& documents);

} // namespace jogak
