// Kernels for AVX2 and BMI2; compiled with those instructions, so nothing from std may appear here.
#include "blocks.hpp"
#include "masks.hpp"

#include <immintrin.h>

namespace jogak::simd {

namespace {

struct Avx2 {
    // Masks of 32 bytes, put together from two halves by the caller.
    struct Half {
        std::uint32_t high, letter, upper, digit, white, space, newline, apostrophe, leads;
    };

    static std::uint32_t mask(__m256i set) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(set));
    }
    static __m256i all(int byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
    static __m256i equal(__m256i bytes, int byte) { return _mm256_cmpeq_epi8(bytes, all(byte)); }
    static __m256i both(__m256i left, __m256i right) { return _mm256_and_si256(left, right); }
    static __m256i either(__m256i left, __m256i right) { return _mm256_or_si256(left, right); }
    /// Unsigned, inclusive.
    static __m256i between(__m256i bytes, int first, int last) {
        const __m256i offset = _mm256_sub_epi8(bytes, all(first));
        return _mm256_cmpeq_epi8(_mm256_min_epu8(offset, all(last - first)), offset);
    }

    static Mask equal_bytes(const std::uint8_t* text, int byte) {
        return mask(equal(load(text), byte)) | Mask{mask(equal(load(text + 32), byte))} << 32U;
    }

    static constexpr std::size_t vector_bytes = 32;
    static __m256i join(__m256i left, __m256i right) { return either(left, right); }
    static bool any(__m256i faults) { return _mm256_testz_si256(faults, faults) == 0; }
    static __m256i half_faults(int which, __m256i halves) {
        const __m128i table =
            _mm_load_si128(reinterpret_cast<const __m128i*>(faults_of_half[which]));
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), halves);
    }
    static __m256i high_half(__m256i bytes) { return both(_mm256_srli_epi16(bytes, 4), all(0x0F)); }
    static __m256i find_faults(const std::uint8_t* text) {
        const __m256i before = load(text - 1);
        const __m256i faults =
            both(both(half_faults(0, high_half(before)), half_faults(1, both(before, all(0x0F)))),
                 half_faults(2, high_half(load(text))));
        // The third byte of E0.. and beyond, the fourth of F0.. and beyond.
        const __m256i later = either(_mm256_subs_epu8(load(text - 2), all(0xE0 - 0x80)),
                                     _mm256_subs_epu8(load(text - 3), all(0xF0 - 0x80)));
        return _mm256_xor_si256(both(later, all(0x80)), faults);
    }

    static Half classify_half(const std::uint8_t* text) {
        const __m256i bytes = load(text);
        Half half;
        half.high = mask(bytes);
        const __m256i small = _mm256_or_si256(bytes, all(0x20));
        half.letter = mask(between(small, 'a', 'z'));
        half.upper = mask(between(bytes, 'A', 'Z'));
        half.digit = mask(between(bytes, '0', '9'));
        const __m256i space = equal(bytes, ' ');
        half.space = mask(space);
        half.white = mask(_mm256_or_si256(space, between(bytes, '\t', '\r')));
        half.newline = mask(_mm256_or_si256(equal(bytes, '\n'), equal(bytes, '\r')));
        half.apostrophe = mask(equal(bytes, '\''));
        half.leads = 0;
        if (half.high != 0) {
            half.leads = known_leads(bytes, text);
        }
        return half;
    }

    // First bytes of Hangul syllables, U+AC00..D7A3 = EA B0 80..ED 9E A3; of the ideographs
    // U+4000..9FFF without the hexagrams, U+4DC0..4DFF = E4 B7 80..E4 B7 BF; of kana and jamo.
    static std::uint32_t known_leads(__m256i bytes, const std::uint8_t* text) {
        const __m256i next = load(text + 1);
        const __m256i third = load(text + 2);
        const __m256i first = both(equal(bytes, 0xEA), between(next, 0x80, 0xAF));
        const __m256i hexagram = both(equal(bytes, 0xE4), equal(next, 0xB7));
        const __m256i whole_rows =
            _mm256_andnot_si256(either(first, hexagram), between(bytes, 0xE4, 0xEC));
        const __m256i end =
            either(between(next, 0x80, 0x9D), both(equal(next, 0x9E), between(third, 0x80, 0xA3)));
        const std::uint32_t leads = mask(either(whole_rows, both(equal(bytes, 0xED), end)));
        const __m256i row = equal(bytes, 0xE3);
        return mask(row) == 0 ? leads : leads | mask(both(row, kana_or_jamo(next, third)));
    }

    // Behind E3: the letters among U+3041..30FF and U+3131..318E.
    static __m256i kana_or_jamo(__m256i next, __m256i third) {
        const __m256i hiragana = both(equal(next, 0x81), between(third, 0x81, 0xBF));
        const __m256i mixed =
            both(equal(next, 0x82), either(between(third, 0x80, 0x96), between(third, 0xA1, 0xBF)));
        const __m256i katakana = _mm256_andnot_si256(equal(third, 0xBB), equal(next, 0x83));
        const __m256i jamo =
            either(both(equal(next, 0x84), between(third, 0xB1, 0xBF)),
                   either(equal(next, 0x85), both(equal(next, 0x86), between(third, 0x80, 0x8E))));
        return either(either(hiragana, mixed), either(katakana, jamo));
    }

    static __m256i load(const std::uint8_t* text) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
    }

    static bool beyond_ascii(const std::uint8_t* text) {
        return mask(either(load(text), load(text + 32))) != 0;
    }

    static Mask join(std::uint32_t low, std::uint32_t high) { return Mask{high} << 32U | low; }

    static void classify(Block& block, const std::uint8_t* text, bool) {
        const Half low = classify_half(text);
        const Half top = classify_half(text + 32);
        block.letter = join(low.letter, top.letter);
        block.upper = join(low.upper, top.upper);
        block.lower = block.letter & ~block.upper;
        block.digit = join(low.digit, top.digit);
        block.white = join(low.white, top.white);
        block.space = join(low.space, top.space);
        block.newline = join(low.newline, top.newline);
        block.apostrophe = join(low.apostrophe, top.apostrophe);
        block.high = join(low.high, top.high);
        block.other = ~(block.letter | block.digit | block.white | block.high);
        const Mask leads = join(low.leads, top.leads);
        const Mask known = leads | leads << 1U | leads << 2U;
        block.letter |= known;
        block.high &= ~known;
    }

    static void store(std::uint32_t* ends, std::uint32_t base, Mask starts) {
        while (starts != 0) {
            for (unsigned i = 0; i < 4; ++i) { // past the last bit: stored, but not counted
                ends[i] = base + static_cast<std::uint32_t>(_tzcnt_u64(starts));
                starts = _blsr_u64(starts);
            }
            ends += 4;
        }
    }
};

} // namespace

const Kernels avx2_kernels{"avx2", &scan_masks<Avx2>, &mark_masks<Avx2>, &skip_valid<Avx2>,
                           &find_lines<Avx2>};

} // namespace jogak::simd
