// Compiled for AVX-512 with VBMI2.
#include "units.hpp"

#include <immintrin.h>

namespace jogak {

namespace {

struct Numbers {
    std::uint8_t at[64];
};

constexpr Numbers make_numbers() {
    Numbers made{};
    for (unsigned i = 0; i < 64; ++i) {
        made.at[i] = static_cast<std::uint8_t>(i);
    }
    return made;
}
alignas(64) constexpr Numbers numbers = make_numbers();

struct Avx512Units {
    static std::size_t list(std::uint64_t bits, std::uint16_t base, std::uint16_t* places) {
        const __m512i found = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers.at));
        const auto count = static_cast<std::size_t>(_mm_popcnt_u64(bits));
        put(places, base, _mm512_castsi512_si256(found));
        if (count > 32) {
            put(places + 32, base, _mm512_extracti64x4_epi64(found, 1));
        }
        return count;
    }

    static void put(std::uint16_t* places, std::uint16_t base, __m256i found) {
        const __m512i wide = _mm512_cvtepu8_epi16(found);
        const __m512i bases = _mm512_set1_epi16(static_cast<short>(base));
        _mm512_storeu_si512(places, _mm512_add_epi16(wide, bases));
    }

    static unsigned equal_words(const std::uint64_t* set, const UnitKey& key) {
        const __m512i words = _mm512_load_si512(set);
        const __m512i sought =
            _mm512_broadcast_i64x2(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&key)));
        return _mm512_cmpeq_epi64_mask(words, sought);
    }
};

} // namespace

const UnitKernels unit_kernels_avx512 = unit_kernels<Avx512Units>;

} // namespace jogak
