// Which code an input has reached, for fuzzing: the compiler calls __sanitizer_cov_trace_pc in
// every basic block of the core (-fsanitize-coverage=trace-pc), and tests/fuzz reads the map from
// Python.
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t slots = 1U << 16;
std::array<std::uint8_t, slots> hits;  // of the input under way, saturating
std::array<std::uint8_t, slots> known; // classes of counts seen so far, a bit each
std::uintptr_t origin = 0;

/// One bit for 1, 2, 3, 4-7, 8-15, 16-31, 32-127 and more hits, as AFL does.
std::uint8_t count_class(std::uint8_t count) {
    constexpr std::array<std::uint8_t, 7> bounds = {1, 2, 3, 7, 15, 31, 127};
    std::size_t index = 0;
    while (index < bounds.size() && count > bounds[index]) {
        ++index;
    }
    return static_cast<std::uint8_t>(1U << index);
}

} // namespace

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the compiler chose the name.
void __sanitizer_cov_trace_pc() {
    const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    if (origin == 0) {
        origin = address; // where the module lies differs between processes; distances do not
    }
    std::uint8_t& count = hits[((address - origin) * 0x9E3779B97F4A7C15U) >> 48U];
    count = count == 255 ? count : static_cast<std::uint8_t>(count + 1);
}

/// Forgets the hits so far; call before each input.
void jogak_coverage_start() { hits.fill(0); }

/// The number of (block, class of count) pairs since the start that no earlier input had.
std::size_t jogak_coverage_new() {
    std::size_t found = 0;
    for (std::size_t slot = 0; slot < slots; ++slot) {
        if (hits[slot] != 0) {
            const std::uint8_t seen = count_class(hits[slot]);
            found += static_cast<std::size_t>((known[slot] & seen) == 0);
            known[slot] = static_cast<std::uint8_t>(known[slot] | seen);
        }
    }
    return found;
}

/// The number of slots of the map that any input has reached.
std::size_t jogak_coverage_reached() {
    std::size_t reached = 0;
    for (const std::uint8_t seen : known) {
        reached += static_cast<std::size_t>(seen != 0);
    }
    return reached;
}
}
