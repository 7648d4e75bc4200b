#include "pretokenize_automaton.hpp"

#include <stdexcept>
#include <utility>

namespace jogak::pattern {

namespace {

// Characters that a run may read in vain before it fails, where another run has read them too.
constexpr int most_delay = 32;
// Pairs of states to look at; a larger automaton is taken to read texts again.
constexpr std::size_t most_pairs = 4'000'000;

struct Step {
    State next;
    bool accepts;
};

Step step_of(const Automaton& automaton, State state, std::size_t atom) {
    const std::uint16_t entry = automaton.step(state, static_cast<Atom>(atom));
    return {static_cast<State>(entry >> 1U), (entry & 1U) != 0};
}

// The states that a run can be in before it has matched anything.
std::vector<State> unmatched_states(const Automaton& automaton) {
    std::vector<State> states{start_state};
    std::vector<bool> seen(automaton.states);
    seen[start_state] = true;
    for (std::size_t i = 0; i < states.size(); ++i) {
        for (std::size_t atom = 0; atom < automaton.atoms.count; ++atom) {
            const Step step = step_of(automaton, states[i], atom);
            if (!step.accepts && step.next != dead_state && !seen[step.next]) {
                seen[step.next] = true;
                states.push_back(step.next);
            }
        }
    }
    return states;
}

bool always_matches(const Automaton& automaton, const std::vector<State>& unmatched) {
    for (const State state : unmatched) {
        for (std::size_t atom = 0; atom < automaton.stride; ++atom) {
            const bool empty_text = state == start_state && atom == automaton.atoms.count;
            const Step step = step_of(automaton, state, atom);
            if (!empty_text && !step.accepts && step.next == dead_state) {
                return false;
            }
        }
    }
    return true;
}

// When a run fails, the characters behind its last match are read again by the next run. That is
// linear if no run can go on in vain for long over characters that an earlier run has already
// read in vain. To prove that, pairs of states are followed: an earlier run that will fail, and a
// later one over the same characters, with the number of characters since the later one last
// matched.
class LinearityCheck {
  public:
    explicit LinearityCheck(const Automaton& automaton)
        : automaton_(automaton), delays_(automaton.states * automaton.states, -1) {}

    bool is_linear(const std::vector<State>& unmatched) {
        for (std::size_t state = start_state; state < automaton_.states; ++state) {
            const auto earlier = static_cast<State>(state);
            for (std::size_t atom = 0; atom < automaton_.atoms.count; ++atom) {
                const Step step = step_of(automaton_, earlier, atom);
                if (step.accepts && step.next != dead_state) {
                    follow(step.next, start_state, 0, atom);
                }
            }
        }
        for (const State earlier : unmatched) {
            if (earlier != start_state) {
                add(earlier, start_state, 0);
            }
        }
        while (!pending_.empty() && linear_) {
            const auto [earlier, later] = pending_.back();
            pending_.pop_back();
            const int delay = delays_[index(earlier, later)];
            for (std::size_t atom = 0; atom < automaton_.atoms.count; ++atom) {
                const Step step = step_of(automaton_, earlier, atom);
                if (!step.accepts && step.next != dead_state) {
                    follow(step.next, later, delay, atom);
                }
            }
        }
        return linear_;
    }

  private:
    std::size_t index(State earlier, State later) const {
        return std::size_t{earlier} * automaton_.states + later;
    }

    // The earlier run has read the atom and is in `earlier`; the later one reads it now.
    void follow(State earlier, State later, int delay, std::size_t atom) {
        const Step step = step_of(automaton_, later, atom);
        if (step.accepts) {
            // The later run may end here; a third one would begin by reading this atom.
            const Step third = step_of(automaton_, start_state, atom);
            add(earlier, third.next, 1);
        }
        add(earlier, step.next, step.accepts ? 1 : delay + 1);
    }

    void add(State earlier, State later, int delay) {
        if (later == dead_state) {
            return;
        }
        if (delay > most_delay) {
            linear_ = false;
            return;
        }
        std::int8_t& known = delays_[index(earlier, later)];
        if (delay > known) {
            known = static_cast<std::int8_t>(delay);
            pending_.emplace_back(earlier, later);
        }
    }

    const Automaton& automaton_;
    std::vector<std::int8_t> delays_; // the largest so far, -1 for none
    std::vector<std::pair<State, State>> pending_;
    bool linear_ = true;
};

} // namespace

void check_automaton(Automaton& automaton) {
    for (std::size_t atom = 0; atom < automaton.stride; ++atom) {
        if (step_of(automaton, start_state, atom).accepts) {
            throw std::invalid_argument("a pattern that can match the empty string");
        }
    }
    const std::vector<State> unmatched = unmatched_states(automaton);
    automaton.matches_everything = always_matches(automaton, unmatched);
    automaton.linear = automaton.states * automaton.states <= most_pairs &&
                       LinearityCheck(automaton).is_linear(unmatched);
}

} // namespace jogak::pattern
