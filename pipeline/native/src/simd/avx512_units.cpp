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

    /// Four units at a time.
    static std::size_t prepare(const UnitWindow& window, std::size_t count) {
        const UnitTables& tables = window.tables;
        const UnitWindow units = window;
        const auto all = [](std::uint64_t word) {
            return _mm512_set1_epi64(static_cast<long long>(word));
        };
        const auto base = [&](std::size_t kind) {
            return all(reinterpret_cast<std::uint64_t>(tables.of[kind].sets) + kind);
        };
        const auto low = static_cast<long long>(tables.seed.low);
        const auto high = static_cast<long long>(tables.seed.high);
        const __m512i seeds = _mm512_set_epi64(high, low, high, low, high, low, high, low);
        const __m512i counts[2] = {all(tables.of[0].count), all(tables.of[1].count)};
        const __m512i bases[2] = {base(0), base(1)};
        std::size_t done = 0;
        for (; done + 4 <= count; done += 4) {
            const std::uint16_t* starts = units.starts + done;
            const auto key = [&](std::size_t i) {
                const std::size_t begin = starts[i];
                return make_key(units.text + begin, starts[i + 1] - begin);
            };
            __m512i keys = _mm512_castsi128_si512(key(0));
            keys = _mm512_inserti64x2(keys, key(1), 1);
            keys = _mm512_inserti64x2(keys, key(2), 2);
            keys = _mm512_inserti64x2(keys, key(3), 3);
            _mm512_storeu_si512(units.keys + done, keys);
            // The odd lanes are as unit_set: there are the lengths, 8 to 15 of the second kind.
            const __mmask8 second = _mm512_test_epi64_mask(keys, all(std::uint64_t{8} << 56U));
            const __m512i products = _mm512_mullo_epi64(keys, seeds);
            const __m512i sums =
                _mm512_add_epi64(products, _mm512_shuffle_epi32(products, _MM_PERM_BADC));
            const __m512i chosen = _mm512_mul_epu32(
                _mm512_srli_epi64(sums, 32), _mm512_mask_blend_epi64(second, counts[0], counts[1]));
            const __m512i sets =
                _mm512_add_epi64(_mm512_slli_epi64(_mm512_srli_epi64(chosen, 32), 6),
                                 _mm512_mask_blend_epi64(second, bases[0], bases[1]));
            const __m256i odd = _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0xAA, sets));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(units.sets + done), odd);
            for (std::size_t i = 0; i < 4; ++i) {
                __builtin_prefetch(units.sets[done + i]);
            }
        }
        return done;
    }

    static void write_key(UnitKey* key, const std::uint8_t* bytes, std::size_t size) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(key), make_key(bytes, size));
    }

    static __m128i make_key(const std::uint8_t* bytes, std::size_t size) {
        const KeyShuffle& shuffle = key_shuffle(size);
        const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
        const __m128i from = _mm_load_si128(reinterpret_cast<const __m128i*>(shuffle.from));
        const __m128i length = _mm_load_si128(reinterpret_cast<const __m128i*>(shuffle.length));
        return _mm_or_si128(_mm_shuffle_epi8(all, from), length);
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
