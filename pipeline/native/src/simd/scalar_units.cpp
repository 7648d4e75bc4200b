#include "units.hpp"

namespace jogak {

namespace {

struct Scalar {
    static std::size_t list(std::uint64_t bits, std::uint16_t base, std::uint16_t* places) {
        std::size_t count = 0;
        for (; bits != 0; bits &= bits - 1) {
            places[count++] = static_cast<std::uint16_t>(base + __builtin_ctzll(bits));
        }
        return count;
    }

    static std::size_t prepare(const UnitWindow& /*window*/, std::size_t /*count*/) { return 0; }

    static void write_key(UnitKey* key, const std::uint8_t* bytes, std::size_t size) {
        *key = unit_key(bytes, size);
    }

    static unsigned equal_words(const std::uint64_t* set, const UnitKey& key) {
        const auto is = [set](unsigned word, std::uint64_t sought) {
            return static_cast<unsigned>(set[word] == sought) << word;
        };
        // No key has its low half elsewhere, and ids are of no interest.
        const unsigned low = is(0, key.low) | is(4, key.low);
        const unsigned high = is(1, key.high) | is(3, key.high) | is(5, key.high) | is(7, key.high);
        return low | high;
    }
};

} // namespace

const UnitKernels unit_kernels_scalar = unit_kernels<Scalar>;

} // namespace jogak
