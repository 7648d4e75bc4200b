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

    static std::size_t prepare(const UnitWindow& /*window*/, std::size_t /*count*/) { return 0; }

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
