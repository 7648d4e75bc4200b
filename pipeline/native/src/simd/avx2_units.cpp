// Compiled for AVX2 and BMI2.
#include "units.hpp"

#include <immintrin.h>

namespace jogak {

namespace {

struct Avx2Units {
    static std::size_t list(std::uint64_t bits, std::uint16_t base, std::uint16_t* places) {
        const auto count = static_cast<std::size_t>(_mm_popcnt_u64(bits));
        // Eight at a time without a test for each: their number varies too much to be predicted.
        for (std::size_t done = 0; done < count; done += 8) {
            for (std::size_t i = 0; i < 8; ++i) {
                places[done + i] = static_cast<std::uint16_t>(base + _tzcnt_u64(bits));
                bits = _blsr_u64(bits);
            }
        }
        return count;
    }

    /// What the sets of two units follow from: in the odd lanes, as unit_set has it.
    struct Choice {
        __m256i seeds;
        __m256i counts[2];
        __m256i bases[2]; // plus the kind

        explicit Choice(const UnitTables& tables)
            : seeds(_mm256_set_epi64x(as_signed(tables.seed.high), as_signed(tables.seed.low),
                                      as_signed(tables.seed.high), as_signed(tables.seed.low))),
              counts{all(tables.of[0].count), all(tables.of[1].count)},
              bases{all(reinterpret_cast<std::uint64_t>(tables.of[0].sets)),
                    all(reinterpret_cast<std::uint64_t>(tables.of[1].sets) + 1)} {}

        static long long as_signed(std::uint64_t word) { return static_cast<long long>(word); }
        static __m256i all(std::uint64_t word) { return _mm256_set1_epi64x(as_signed(word)); }

        [[nodiscard]] __m256i sets(__m256i keys) const {
            const __m256i crossed =
                _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(keys, 32), seeds),
                                 _mm256_mul_epu32(keys, _mm256_srli_epi64(seeds, 32)));
            const __m256i products =
                _mm256_add_epi64(_mm256_mul_epu32(keys, seeds), _mm256_slli_epi64(crossed, 32));
            const __m256i sums = _mm256_add_epi64(products, _mm256_shuffle_epi32(products, 0x4E));
            // Lengths of the second kind are 8 to 15, in the top byte; blends go by the top bit.
            const __m256i kinds = _mm256_slli_epi64(keys, 4);
            const __m256i chosen =
                _mm256_mul_epu32(_mm256_srli_epi64(sums, 32), blend(counts, kinds));
            return _mm256_add_epi64(_mm256_slli_epi64(_mm256_srli_epi64(chosen, 32), 6),
                                    blend(bases, kinds));
        }

        static __m256i blend(const __m256i (&of)[2], __m256i kinds) {
            return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(of[0]),
                                                        _mm256_castsi256_pd(of[1]),
                                                        _mm256_castsi256_pd(kinds)));
        }
    };

    /// Four units at a time.
    static std::size_t prepare(const UnitWindow& window, std::size_t count) {
        const Choice choice(window.tables);
        const UnitWindow units = window;
        std::size_t done = 0;
        for (; done + 4 <= count; done += 4) {
            const std::uint16_t* starts = units.starts + done;
            const auto two_keys = [&](std::size_t i) {
                const std::size_t begin = starts[i];
                const std::size_t middle = starts[i + 1];
                return _mm256_inserti128_si256(
                    _mm256_castsi128_si256(make_key(units.text + begin, middle - begin)),
                    make_key(units.text + middle, starts[i + 2] - middle), 1);
            };
            const __m256i first = two_keys(0);
            const __m256i second = two_keys(2);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(units.keys + done), first);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(units.keys + done + 2), second);
            const __m256i odd = _mm256_unpackhi_epi64(choice.sets(first), choice.sets(second));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(units.sets + done),
                                _mm256_permute4x64_epi64(odd, 0xD8));
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
        const __m256i sought =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&key)));
        return equal(set, sought) | equal(set + 4, sought) << 4U;
    }

    static unsigned equal(const std::uint64_t* words, __m256i sought) {
        const __m256i all = _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
        const __m256i found = _mm256_cmpeq_epi64(all, sought);
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(found)));
    }
};

} // namespace

const UnitKernels unit_kernels_avx2 = unit_kernels<Avx2Units>;

} // namespace jogak
