// The mask scanner, written once; each instruction set brings its own `Isa` (how to classify 64
// bytes, how to store the places of set bits). Included by the kernel files only: everything here
// has internal linkage, so that no code for one processor can be linked for another.
//
// A block of 64 bytes begins where a pretoken begins. Each class of characters is a mask, a bit for
// each byte (all bytes of a character are set), and the places where pretokens begin follow by
// arithmetic on masks. Places near the block's end, or near a character that the masks cannot judge
// (`unknown`), are not trusted; the next block begins at the last trusted place.
#pragma once

#include "jogak/simd.hpp"

namespace jogak::simd {
namespace {

using Mask = std::uint64_t;

constexpr std::size_t block_bytes = 64;
// A character that begins in the block may end, and a contraction may reach, this far behind it.
constexpr std::size_t look_ahead_bytes = 4;

struct Block {
    Mask letter = 0;
    Mask upper = 0; // Lu, Lt (filled for o200k only)
    Mask lower = 0; // Ll (likewise)
    Mask digit = 0;
    Mask space = 0;   // U+0020
    Mask white = 0;   // all white space of ASCII
    Mask newline = 0; // \r \n
    Mask other = 0;
    Mask apostrophe = 0;
    Mask high = 0;                             // bytes beyond ASCII that are still to be looked up
    Mask unknown = 0;                          // first bytes of what the masks cannot judge
    Mask other_of_length[5] = {0, 0, 0, 0, 0}; // first bytes of `other` beyond ASCII
};

inline Mask bit(unsigned place) { return Mask{1} << place; }
inline unsigned lowest(Mask mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }
inline unsigned highest(Mask mask) { return 63U - static_cast<unsigned>(__builtin_clzll(mask)); }
/// The bits up to and including `place`; none below 0.
inline Mask up_to(int place) { return place < 0 ? 0 : ~Mask{0} >> (63 - place); }

/// Looks up the characters of `block.high` one by one.
inline void look_up(Block& block, const std::uint8_t* text, const MaskText& scan) {
    Mask left = block.high;
    while (left != 0) {
        const unsigned at = lowest(left);
        const std::uint32_t lead = text[at];
        unsigned length = 1;
        std::uint32_t code = 0x110000;
        if (lead >= 0xF0) {
            length = 4;
            code = (lead & 7U) << 18U | (text[at + 1] & 63U) << 12U | (text[at + 2] & 63U) << 6U |
                   (text[at + 3] & 63U);
        } else if (lead >= 0xE0) {
            length = 3;
            code = (lead & 15U) << 12U | (text[at + 1] & 63U) << 6U | (text[at + 2] & 63U);
        } else if (lead >= 0xC0) {
            length = 2;
            code = (lead & 31U) << 6U | (text[at + 1] & 63U);
        }
        const Mask bytes = up_to(static_cast<int>(length) - 1) << at;
        std::uint32_t kind = unknown_bit;
        if (code <= 0x10FFFF) {
            kind = scan.class_of[scan.block_of[code >> 6U] * 64U + (code & 63U)];
        }
        block.letter |= (kind & letter_bit) != 0 ? bytes : 0;
        block.upper |= (kind & upper_bit) != 0 ? bytes : 0;
        block.lower |= (kind & lower_bit) != 0 ? bytes : 0;
        block.other |= (kind & other_bit) != 0 ? bytes : 0;
        block.other_of_length[length] |= (kind & other_bit) != 0 ? bit(at) : 0;
        block.unknown |= (kind & unknown_bit) != 0 ? bit(at) : 0;
        left &= ~bytes;
    }
}

/// The length of the contraction whose apostrophe is at `at`: 0, 2 or 3 bytes.
inline unsigned contraction(const std::uint8_t* at, bool ignore_case) {
    const std::uint8_t fold = ignore_case ? 0x20 : 0;
    const auto first = static_cast<std::uint8_t>(at[1] | fold);
    const auto second = static_cast<std::uint8_t>(at[2] | fold);
    switch (first) {
    case 's':
    case 't':
    case 'm':
    case 'd':
        return 2;
    case 'r':
    case 'v':
        return second == 'e' ? 3 : 0;
    case 'l':
        return second == 'l' ? 3 : 0;
    default:
        return 0;
    }
}

inline Mask starts_of_runs(Mask set) { return set & ~(set << 1U); }

/// Only U+0020 joins what follows it, whatever that is; the last of a run of spaces stands apart.
inline Mask gpt2_starts(Block& block, const std::uint8_t* text) {
    const Mask others = starts_of_runs(block.other);
    const Mask runs = starts_of_runs(block.letter) | starts_of_runs(block.digit) | others;
    Mask starts = starts_of_runs(block.white) | (block.white & ~(block.white >> 1U)) |
                  (runs & ~(block.space << 1U));
    Mask quotes = block.apostrophe & others & ~(block.space << 1U) & (block.letter >> 1U);
    for (; quotes != 0; quotes &= quotes - 1) {
        const unsigned at = lowest(quotes);
        const unsigned length = contraction(text + at, false);
        if (length != 0) {
            starts &= ~(bit(at) << 1U);
            starts |= at + length < block_bytes ? bit(at + length) & block.letter : 0;
        }
    }
    return starts;
}

/// Every third digit of a run.
inline Mask digit_starts(Mask digit) {
    Mask starts = starts_of_runs(digit);
    const Mask behind_three = digit & (digit << 1U) & (digit << 2U) & (digit << 3U);
    if (behind_three != 0) {
        for (Mask more = starts; more != 0; starts |= more) {
            more = (more << 3U) & behind_three;
        }
    }
    return starts;
}

/// White space: a run goes up to its last newline; of what is left the last character stands
/// apart. Newlines right behind `other` belong to it. `end` is where the text ends, 64 if beyond.
inline Mask white_starts(Block& block, const std::uint8_t* text, const MaskRules& rules,
                         unsigned end) {
    const Mask spaces = block.white & ~block.newline;
    if (block.newline == 0) {
        return starts_of_runs(spaces) | (spaces & ~(spaces >> 1U));
    }
    const Mask joined = (block.other << 1U) & block.newline;
    const Mask carried = block.newline + joined;
    const Mask absorbed = block.newline & ~carried;
    if (rules.o200k && joined != 0) {
        // Slashes too may follow the newlines; the masks do not follow further.
        for (Mask behind = carried & ~block.newline & block.other; behind != 0;
             behind &= behind - 1) {
            block.unknown |= text[lowest(behind)] == '/' ? bit(lowest(behind)) : 0;
        }
    }
    const Mask white = block.white & ~absorbed;
    Mask starts = starts_of_runs(white) | (spaces & ~(block.white >> 1U));
    for (Mask behind = spaces & ((block.newline & ~absorbed) << 1U); behind != 0;
         behind &= behind - 1) {
        const unsigned at = lowest(behind);
        const Mask rest = ~spaces >> at; // no shift by 64: `at` is a place in the block
        const unsigned next = rest == 0 ? block_bytes : at + lowest(rest);
        const bool known =
            next < block_bytes ? (block.unknown & bit(next)) == 0 : end < block_bytes;
        if (!known) {
            block.unknown |= bit(at);
        } else if (next >= end ? !rules.spaces_to_end : (block.newline & bit(next)) == 0) {
            starts |= bit(at);
        }
    }
    return starts;
}

/// What cl100k, llama3, qwen2 and o200k share, and how o200k differs.
inline Mask cl100k_starts(Block& block, const std::uint8_t* text, const MaskRules& rules,
                          unsigned end) {
    const Mask spaces = block.white & ~block.newline;
    // A single character of `other` that begins a pretoken is joined by the letter behind it.
    const Mask free = starts_of_runs(block.other) & ~(block.space << 1U);
    const Mask beyond_ascii =
        block.other_of_length[2] | block.other_of_length[3] | block.other_of_length[4];
    const Mask prefixed =
        ((free & ~beyond_ascii) << 1U) | ((free & block.other_of_length[2]) << 2U) |
        ((free & block.other_of_length[3]) << 3U) | ((free & block.other_of_length[4]) << 4U);
    Mask starts = starts_of_runs(block.letter) & ~(spaces << 1U) & ~prefixed;
    starts |= rules.single_digits ? block.digit : digit_starts(block.digit);
    starts |= free | white_starts(block, text, rules, end);
    Mask quotes = block.apostrophe & free & (block.letter >> 1U);
    if (rules.o200k) {
        starts |= block.upper & (block.lower << 1U);
        const Mask caseless = block.letter & ~block.upper & ~block.lower;
        block.unknown |= block.upper & (caseless << 1U);
        quotes &= rules.contractions ? block.letter << 1U : 0;
    }
    for (; quotes != 0; quotes &= quotes - 1) {
        const unsigned at = lowest(quotes);
        if (text[at + 1] == 0xC5) { // may be U+017F, which folds to s
            block.unknown |= bit(at) << 1U;
        }
        const unsigned length = contraction(text + at, true);
        if (length == 0) {
            continue;
        }
        const Mask behind = at + length < block_bytes ? bit(at + length) : 0;
        if (rules.o200k) {
            starts &= ~(up_to(static_cast<int>(length) - 1) << at);
            block.unknown |= behind & block.apostrophe;
        }
        starts |= behind & block.letter;
    }
    return starts;
}

/// Where pretokens begin in the block at `text`, as far as that is sure.
template <class Isa> Mask starts_of(const std::uint8_t* text, unsigned end, const MaskText& scan) {
    Block block;
    Isa::classify(block, text, scan.rules.o200k);
    if (block.high != 0) {
        look_up(block, text, scan);
    }
    Mask starts =
        scan.rules.gpt2 ? gpt2_starts(block, text) : cl100k_starts(block, text, scan.rules, end);
    // A place is judged with the character behind it.
    const int trusted = block.unknown != 0 ? static_cast<int>(lowest(block.unknown)) - 2
                                           : static_cast<int>(end) - (end == block_bytes ? 2 : 1);
    const int last = trusted < static_cast<int>(end) - 1 ? trusted : static_cast<int>(end) - 1;
    starts &= up_to(last) & ~Mask{1};
    // Report "all places of a text that ends here are known" by the bit of the first place, which
    // is always a start and never stored.
    return starts | (end < block_bytes && block.unknown == 0 ? 1U : 0U);
}

/// Room for a block and what is looked at behind it.
using BlockCopy = std::uint8_t[block_bytes + 2 * look_ahead_bytes];

/// The block at the scan's position, copied where the text ends too soon behind it.
inline const std::uint8_t* block_at(const MaskText& scan, std::size_t left, BlockCopy& copy) {
    const std::uint8_t* text = scan.text + scan.position;
    if (left < block_bytes + look_ahead_bytes) {
        __builtin_memset(copy, ' ', sizeof copy);
        __builtin_memcpy(copy, text, left);
        return copy;
    }
    return text;
}

template <class Isa> bool scan_masks(MaskScan& scan) noexcept {
    while (scan.count + mask_scan_room <= scan.capacity) {
        const std::size_t left = scan.at.size - scan.at.position;
        if (left == 0) {
            return true;
        }
        BlockCopy copy;
        const std::uint8_t* text = block_at(scan.at, left, copy);
        const unsigned end = left < block_bytes ? static_cast<unsigned>(left) : block_bytes;
        const Mask found = starts_of<Isa>(text, end, scan.at);
        const Mask starts = found & ~Mask{1};
        Isa::store(scan.ends + scan.count, static_cast<std::uint32_t>(scan.at.position), starts);
        scan.count += static_cast<std::size_t>(__builtin_popcountll(starts));
        if ((found & 1U) != 0) {
            scan.ends[scan.count++] = static_cast<std::uint32_t>(scan.at.size);
            scan.at.position = scan.at.size;
            return true;
        }
        if (starts == 0) {
            return false;
        }
        scan.at.position += highest(starts);
    }
    return false;
}

inline void mark(std::uint64_t* bits, std::size_t place, Mask mask) {
    bits[place / 64] |= mask << (place % 64);
    bits[place / 64 + 1] |= (mask >> 1U) >> (63 - place % 64);
}

template <class Isa> MarkStop mark_masks(MarkScan& scan) noexcept {
    for (;;) {
        const std::size_t left = scan.at.size - scan.at.position;
        if (left == 0) {
            return MarkStop::text_end;
        }
        const unsigned end = left < block_bytes ? static_cast<unsigned>(left) : block_bytes;
        const auto place = static_cast<std::size_t>(scan.origin) + scan.at.position;
        if (place + end > scan.capacity) {
            return MarkStop::no_room;
        }
        BlockCopy copy;
        const std::uint8_t* text = block_at(scan.at, left, copy);
        const Mask found = starts_of<Isa>(text, end, scan.at);
        const Mask starts = found & ~Mask{1};
        scan.beyond_ascii |= Isa::beyond_ascii(text);
        mark(scan.bits, place, starts);
        if ((found & 1U) != 0) {
            mark(scan.bits, place + left, 1);
            scan.at.position = scan.at.size;
            return MarkStop::text_end;
        }
        if (starts == 0) {
            return MarkStop::automaton;
        }
        scan.at.position += highest(starts);
    }
}

} // namespace
} // namespace jogak::simd
