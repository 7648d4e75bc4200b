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
        unsigned bits = 0;
        for (unsigned word = 0; word < 8; ++word) {
            bits |= static_cast<unsigned>(set[word] == (word % 2 == 0 ? key.low : key.high))
                    << word;
        }
        return bits;
    }
};

} // namespace

const UnitKernels unit_kernels_scalar = unit_kernels<Scalar>;

} // namespace jogak
