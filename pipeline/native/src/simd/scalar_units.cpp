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

    /// The place of a key, or 4; found without a branch.
    static unsigned find(const std::uint64_t* keys, std::uint64_t key) {
        const auto is = [=](unsigned place) { return static_cast<unsigned>(keys[place] == key); };
        const unsigned found = is(0) | is(1) * 2 | is(2) * 4 | is(3) * 8 | 16;
        return static_cast<unsigned>(__builtin_ctz(found));
    }
};

} // namespace

const UnitKernels unit_kernels_scalar = unit_kernels<Scalar>;

} // namespace jogak
