// pretokenize, third step: a tree -> a leftmost-first automaton over atoms. Internal to
// src/pretokenize*.cpp.
#pragma once

#include "pretokenize_atoms.hpp"
#include "pretokenize_parser.hpp"

#include <cstdint>
#include <vector>

namespace jogak::pattern {

using State = std::uint16_t;
inline constexpr State dead_state = 0;
inline constexpr State start_state = 1;
inline constexpr std::size_t most_states = 4096;

/// A deterministic automaton that reads one pretoken from its first character on. Acceptance is
/// delayed by one atom, so that look-ahead is a condition on the atom being read: a transition
/// says where to go, and whether the best match so far ends *before* the atom. Of several
/// accepting transitions on the way to the dead state the last one counts. The last atom (index
/// `atoms.count`) is the end of the text; every state is dead behind it.
struct Automaton {
    Atoms atoms;
    std::size_t states = 0;
    std::size_t stride = 0;
    /// table[state * stride + atom] = (next state << 1) | accepts before the atom.
    std::vector<std::uint16_t> table;
    /// No text has a part that the pattern leaves unmatched.
    bool matches_everything = false;
    /// No text makes the characters behind a match be read again more than a few times.
    bool linear = false;

    [[nodiscard]] std::uint16_t step(State state, Atom atom) const noexcept {
        return table[std::size_t{state} * stride + atom];
    }
};

/// Builds the automaton by the ordered subset construction: a state is the list of alternatives
/// in order of preference, cut off behind a match (leftmost-first, as backtracking engines
/// prefer). Throws std::invalid_argument when the pattern can match the empty string, when a
/// possessive quantifier would differ from the greedy one, or when there are more than
/// `most_states`.
[[nodiscard]] Automaton build_automaton(const Node& tree);

/// Refuses empty matches and sets `matches_everything` and `linear`; the last part of the above.
void check_automaton(Automaton& automaton);

} // namespace jogak::pattern
