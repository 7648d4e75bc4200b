// Kernels for AVX-512 with VBMI and VBMI2; compiled with those instructions, so nothing from std
// may appear here.
#include "blocks.hpp"
#include "masks.hpp"

#include <immintrin.h>

namespace jogak::simd {

namespace {

// What the ASCII table says of a byte.
enum : std::uint8_t { letter = 1, upper = 2, digit = 4, white = 8, newline = 16 };

struct Bytes {
    std::uint8_t at[128];
};

constexpr Bytes make_ascii_kinds() {
    Bytes kinds{};
    for (unsigned c = 0; c < 128; ++c) {
        const bool capital = c >= 'A' && c <= 'Z';
        unsigned kind = capital ? letter | upper : 0;
        kind |= c >= 'a' && c <= 'z' ? letter : 0;
        kind |= c >= '0' && c <= '9' ? digit : 0;
        kind |= c == ' ' || (c >= '\t' && c <= '\r') ? white : 0;
        kind |= c == '\n' || c == '\r' ? newline : 0;
        kinds.at[c] = static_cast<std::uint8_t>(kind);
    }
    return kinds;
}

constexpr Bytes make_numbers() {
    Bytes numbers{};
    for (unsigned i = 0; i < 128; ++i) {
        numbers.at[i] = static_cast<std::uint8_t>(i);
    }
    return numbers;
}

alignas(64) constexpr Bytes ascii_kinds = make_ascii_kinds();
alignas(64) constexpr Bytes numbers = make_numbers();

struct Avx512 {
    static __m512i all(int byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }
    static __m512i load(const std::uint8_t* text) { return _mm512_loadu_si512(text); }
    static Mask equal(__m512i bytes, int byte) { return _mm512_cmpeq_epi8_mask(bytes, all(byte)); }
    static Mask at_least(__m512i bytes, int byte) {
        return _mm512_cmpge_epu8_mask(bytes, all(byte));
    }
    static Mask at_most(__m512i bytes, int byte) {
        return _mm512_cmple_epu8_mask(bytes, all(byte));
    }
    static Mask has(__m512i kinds, int kind) { return _mm512_test_epi8_mask(kinds, all(kind)); }

    static Mask equal_bytes(const std::uint8_t* text, int byte) { return equal(load(text), byte); }

    static constexpr std::size_t vector_bytes = 64;
    static __m512i join(__m512i left, __m512i right) { return _mm512_or_si512(left, right); }
    static bool any(__m512i faults) { return _mm512_test_epi8_mask(faults, faults) != 0; }
    static __m512i half_faults(int which, __m512i halves) {
        const __m128i table =
            _mm_load_si128(reinterpret_cast<const __m128i*>(faults_of_half[which]));
        return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), halves);
    }
    static __m512i high_half(__m512i bytes) {
        return _mm512_and_si512(_mm512_srli_epi16(bytes, 4), all(0x0F));
    }
    static __m512i find_faults(const std::uint8_t* text) {
        const __m512i before = load(text - 1);
        const __m512i faults =
            _mm512_and_si512(_mm512_and_si512(half_faults(0, high_half(before)),
                                              half_faults(1, _mm512_and_si512(before, all(0x0F)))),
                             half_faults(2, high_half(load(text))));
        // The third byte of E0.. and beyond, the fourth of F0.. and beyond.
        const __m512i later = _mm512_or_si512(_mm512_subs_epu8(load(text - 2), all(0xE0 - 0x80)),
                                              _mm512_subs_epu8(load(text - 3), all(0xF0 - 0x80)));
        return _mm512_xor_si512(_mm512_and_si512(later, all(0x80)), faults);
    }

    static bool beyond_ascii(const std::uint8_t* text) {
        return _mm512_movepi8_mask(load(text)) != 0;
    }

    static void classify(Block& block, const std::uint8_t* text, bool cases) {
        const __m512i bytes = load(text);
        const Mask high = _mm512_movepi8_mask(bytes);
        // The table is indexed by seven bits; bytes beyond ASCII are zeroed.
        const __m512i kinds = _mm512_maskz_permutex2var_epi8(~high, load(ascii_kinds.at), bytes,
                                                             load(ascii_kinds.at + 64));
        block.letter = has(kinds, letter);
        block.digit = has(kinds, digit);
        block.white = has(kinds, white);
        block.newline = has(kinds, newline);
        block.space = equal(bytes, ' ');
        block.apostrophe = equal(bytes, '\'');
        block.other = ~(block.letter | block.digit | block.white | high);
        if (cases) {
            block.upper = has(kinds, upper);
            block.lower = block.letter & ~block.upper;
        }
        if (high != 0) {
            const Mask leads = known_leads(bytes, text);
            const Mask known = leads | leads << 1U | leads << 2U;
            block.letter |= known;
            block.high = high & ~known;
        }
    }

    // First bytes of Hangul syllables, U+AC00..D7A3 = EA B0 80..ED 9E A3; of the ideographs
    // U+4000..9FFF without the hexagrams, U+4DC0..4DFF = E4 B7 80..E4 B7 BF; of kana and jamo.
    static Mask known_leads(__m512i bytes, const std::uint8_t* text) {
        const __m512i next = load(text + 1);
        const __m512i third = load(text + 2);
        const Mask between = at_least(bytes, 0xE4) & at_most(bytes, 0xEC);
        const Mask first = equal(bytes, 0xEA) & at_most(next, 0xAF);
        const Mask hexagram = equal(bytes, 0xE4) & equal(next, 0xB7);
        const Mask end = at_most(next, 0x9D) | (equal(next, 0x9E) & at_most(third, 0xA3));
        const Mask leads = (between & ~first & ~hexagram) | (equal(bytes, 0xED) & end);
        const Mask row = equal(bytes, 0xE3);
        return row == 0 ? leads : leads | (row & kana_or_jamo(next, third));
    }

    // Behind E3: the letters among U+3041..30FF and U+3131..318E.
    static Mask kana_or_jamo(__m512i next, __m512i third) {
        const Mask hiragana = equal(next, 0x81) & at_least(third, 0x81);
        const Mask both = equal(next, 0x82) & (at_most(third, 0x96) | at_least(third, 0xA1));
        const Mask katakana = equal(next, 0x83) & ~equal(third, 0xBB);
        const Mask jamo = (equal(next, 0x84) & at_least(third, 0xB1)) | equal(next, 0x85) |
                          (equal(next, 0x86) & at_most(third, 0x8E));
        return hiragana | both | katakana | jamo;
    }

    static void store(std::uint32_t* ends, std::uint32_t base, Mask starts) {
        const __m512i places = _mm512_maskz_compress_epi8(starts, load(numbers.at));
        const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
        put(ends, bases, _mm512_castsi512_si128(places));
        const auto count = static_cast<unsigned>(_mm_popcnt_u64(starts));
        if (count > 16) {
            put(ends + 16, bases, _mm512_extracti32x4_epi32(places, 1));
            if (count > 32) {
                put(ends + 32, bases, _mm512_extracti32x4_epi32(places, 2));
                put(ends + 48, bases, _mm512_extracti32x4_epi32(places, 3));
            }
        }
    }

    static void put(std::uint32_t* ends, __m512i bases, __m128i places) {
        _mm512_storeu_si512(ends, _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(places)));
    }
};

} // namespace

const Kernels avx512_kernels{"avx512", &scan_masks<Avx512>, &mark_masks<Avx512>,
                             &skip_valid<Avx512>, &find_lines<Avx512>};

} // namespace jogak::simd
