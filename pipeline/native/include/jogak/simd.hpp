// simd: what the vector kernels do, and how one set of them is chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jogak::simd {

/// Classes of characters that the mask scanner tells apart. The kernels know those of ASCII, of
/// Hangul syllables and of the common ideographs; all others are looked up in a table.
enum CharacterBits : std::uint8_t {
    other_bit = 1,   // neither letter, nor number, nor white space
    letter_bit = 2,  // a letter
    upper_bit = 4,   // ... Lu or Lt
    lower_bit = 8,   // ... Ll
    unknown_bit = 16 // left to the automaton: numbers and white space beyond ASCII, some marks
};

/// The patterns whose pretokens follow from bit masks of the classes of 64 bytes.
struct MaskRules {
    bool gpt2 = false;          // only U+0020 joins what follows; numbers of any length
    bool o200k = false;         // capitals begin a pretoken, contractions end one
    bool contractions = true;   // 's 't 're 've 'm 'll 'd are known
    bool single_digits = false; // numbers of one digit instead of three
    bool spaces_to_end = false; // white space that ends the text is one pretoken
};

/// A text, how far it is scanned, and what the masks need to know; the kernels move `position`.
struct MaskText {
    const std::uint8_t* text; // valid UTF-8; other bytes give other cuts, never a bad access
    std::size_t size;         // of the text
    std::size_t position;     // in: a place where a pretoken begins; out: another one
    MaskRules rules;
    const std::uint16_t* block_of; // CharacterBits of a code point up to 10FFFF:
    const std::uint8_t* class_of;  // class_of[block_of[code >> 6] * 64 + (code & 63)]
};

/// One call of `scan_masks`.
struct MaskScan {
    MaskText at;
    std::uint32_t* ends;  // receives ends of pretokens, ascending
    std::size_t count;    // ends in use
    std::size_t capacity; // of `ends`
};

/// Ends that a kernel may write before it looks at the capacity again.
inline constexpr std::size_t mask_scan_room = 80;

/// One call of `mark_masks`.
struct MarkScan {
    MaskText at;
    std::uint64_t* bits;   // receives a bit for each end of a pretoken; a word more than `capacity`
    std::ptrdiff_t origin; // the place of the text's first byte among the bits
    std::size_t capacity;  // the last place that may be marked
    bool beyond_ascii;     // set where the text scanned is not all ASCII
};

enum class MarkStop {
    text_end,  // the text is scanned
    no_room,   // the next 64 bytes may go beyond `capacity`
    automaton, // the pretoken at `position` is for the automaton
};

struct Kernels {
    const char* isa;
    /// Writes ends from `position` on, while the masks decide, up to the end of the text, or until
    /// fewer than `mask_scan_room` ends are free. Returns true at the end of the text; false where
    /// the pretoken at `position` is for the automaton, or there is no room. O(bytes moved).
    /// Null for "scalar": the automaton scans, and is the truth that the kernels must equal.
    bool (*scan_masks)(MaskScan& scan) noexcept;
    /// The same with marks in a window of bits. Null where scan_masks is.
    MarkStop (*mark_masks)(MarkScan& scan) noexcept;
    /// Returns the first of the places position, position + 64, .. whose 64 bytes are not all in
    /// the text, or do not follow on as well-formed UTF-8 does from the three bytes before them,
    /// which are read too. A character that such a block leaves open is judged with the next one.
    std::size_t (*skip_valid)(const std::uint8_t* text, std::size_t position,
                              std::size_t size) noexcept;
    /// Writes where lines end, behind their "\n", and returns how many, in blocks of 64 bytes from
    /// `position` on, which it moves, while the text has them and `ends` has room for 64 more.
    /// Null for "scalar".
    std::size_t (*find_lines)(const std::uint8_t* text, std::size_t& position, std::size_t size,
                              std::int64_t* ends, std::size_t room) noexcept;
};

/// The kernels of one instruction set: "scalar", "avx2" or "avx512"; "" means what the environment
/// variable JOGAK_ISA says, or else the best that the processor has. Throws std::runtime_error
/// when the name is unknown or the processor or the build lacks the instructions.
[[nodiscard]] const Kernels& kernels(const char* isa);

/// For the dispatcher alone; they exist in x86-64 builds.
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

} // namespace jogak::simd
