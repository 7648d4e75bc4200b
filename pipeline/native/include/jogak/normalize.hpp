// normalize: UTF-8 validity, measuring of text, and normal forms (UAX #15, Unicode 16).
// Every function is re-entrant and takes whole documents: a normal form is a property of a whole
// document, never of a chunk of it (U+AC00 | U+11A8 compose across any edge).
#pragma once

#include "jogak/text.hpp"

#include <vector>

namespace jogak {

/// For every document the offset of its first byte that is not part of valid UTF-8, or -1.
/// Domain: any bytes. Valid is what Unicode 16, table 3-7, calls well-formed: no surrogates, no
/// overlong forms, nothing above U+10FFFF. The offset is that of the first byte of the ill-formed
/// sequence, as in Python's UnicodeDecodeError.start. O(n), many GB/s when all are valid.
/// `isa` is for tests: see simd::kernels, whose std::runtime_error it may throw.
[[nodiscard]] std::vector<std::int64_t> validate_utf8(const Documents& documents,
                                                      const char* isa = "");

/// Where the lines of a text begin, and the text's end: a line ends behind its "\n", the last one
/// with the text. Just 0 where there is no text. `isa` as above.
[[nodiscard]] std::vector<std::int64_t> line_offsets(std::string_view text, const char* isa = "");

/// Characters and eojeol (white-space words) of every document.
struct TextMeasures {
    std::vector<std::int64_t> characters; // code points
    std::vector<std::int64_t> eojeol;     // len(text.split()) of Python: its 29 white-space
                                          // code points separate words
};

/// Measures documents of valid UTF-8. O(n), branch-free over the text.
[[nodiscard]] TextMeasures measure_text(const Documents& documents);

/// Normal forms. `nfkc_keep_jamo` is NFKC as it would be if U+3131-318E (compatibility jamo, such
/// as those of laughter) had no decomposition; half-width jamo U+FFA0-FFDC become those.
enum class NormalForm : std::uint8_t { nfc = 0, nfkc = 1, nfkc_keep_jamo = 2 };

/// What a normal form does to a document.
enum class FormCheck : std::uint8_t {
    normal = 0, // nothing: the document is in the form
    jamo = 1,   // it composes conjoining jamo, and does nothing else
    unknown = 2 // it may do anything: normalize the document to find out
};

/// Checks every document. `normal` and `jamo` are exact; documents with combining marks that may
/// compose are `unknown`. O(n). Source: UAX #15, section 9 (quick check) and 16 (Hangul).
[[nodiscard]] std::vector<FormCheck> check_form(const Documents& documents, NormalForm form);

/// Documents written anew: data, offsets from 0, and which documents differ (1) or not (0). When
/// none differs, data and offsets are empty and the given documents stand.
struct RewrittenDocuments {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> changed;
};

/// Composes conjoining jamo (L V, LV T) wherever they are adjacent. For a document that check_form
/// calls `jamo` the result is its normal form. O(n).
[[nodiscard]] RewrittenDocuments compose_jamo(const Documents& documents);

/// Cleaning, each rule on its own or together.
struct CleanRules {
    bool lf_newlines = false;     // CR LF and lone CR become LF
    bool remove_control = false;  // general category Cc, less U+0009-000D and U+0085 (white
                                  // space), disappears; format characters (joiners) stay
    bool collapse_spaces = false; // a run of U+0009 and category Zs becomes one U+0020; line
                                  // breaks stay, and nothing is trimmed
};

/// Applies the rules in the order: control, newlines, spaces. Idempotent. O(n).
[[nodiscard]] RewrittenDocuments clean_text(const Documents& documents, const CleanRules& rules);

} // namespace jogak
