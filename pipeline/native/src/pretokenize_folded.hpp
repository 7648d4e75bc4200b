// pretokenize: an automaton that never stops between pretokens. Internal to src/pretokenize*.cpp.
#pragma once

#include "pretokenize_automaton.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace jogak::pattern {

/// An automaton whose end of one pretoken is the beginning of the next: where a run fails, the
/// transition goes on as the run that would begin there has gone. That run is known when the last
/// match ends at the failing character or one character before it (a state of the table is a state
/// of the automaton and, where it may matter, of the run begun one character ago); all else is rare
/// and left to scan_with.
struct Folded {
    std::size_t stride = 0;
    /// table[state + atom] = (next state << 3) | the three bits below; states are multiples of
    /// `stride`, the first is 0, and the last atom is the end of the text. Empty where the
    /// automaton cannot be folded.
    std::vector<std::uint32_t> table;

    static constexpr std::uint32_t ends_before_previous = 1; // a pretoken ends one character ago
    static constexpr std::uint32_t ends_before_current = 2;  // ... before the character just read
    static constexpr std::uint32_t rare = 4;
};

/// Folds an automaton that is `linear`; the table is empty for others, and where it would have too
/// many states.
[[nodiscard]] Folded fold(const Automaton& automaton);

/// Scans as scan_with does, with the same result, in one pass.
[[nodiscard]] std::size_t scan_folded(const Folded& folded, const Automaton& automaton,
                                      std::string_view text, std::size_t start, std::uint32_t* ends,
                                      std::size_t capacity) noexcept;

} // namespace jogak::pattern
