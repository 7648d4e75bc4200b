#include "pretokenize_folded.hpp"

#include "pretokenize_scan.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr std::size_t most_folded_states = 8192;

class Folder {
  public:
    explicit Folder(const Automaton& automaton) : automaton_(automaton) {}

    Folded fold_all() {
        Folded folded;
        folded.stride = automaton_.stride;
        number_of({start_state, dead_state});
        // `pending_` grows while it is walked: each new state is appended to it.
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            if (pending_.size() > most_folded_states) {
                return {};
            }
            const Pair state = pending_[i];
            for (std::size_t atom = 0; atom < folded.stride; ++atom) {
                const std::uint32_t entry = entry_for(state, static_cast<Atom>(atom));
                const std::size_t next = (entry >> 3U) * folded.stride;
                folded.table.push_back(static_cast<std::uint32_t>(next << 3U) | (entry & 7U));
            }
        }
        return folded;
    }

  private:
    /// The state of the run, and of the one begun one character ago, where the last match ended;
    /// dead if no match ended there, or it cannot matter.
    struct Pair {
        State run;
        State begun;
        auto operator<=>(const Pair&) const = default;
    };

    std::uint32_t entry_for(const Pair& state, Atom atom) {
        std::uint32_t bits = 0;
        Pair next = step(state.run, atom, bits);
        if (bits == Folded::rare && state.begun != dead_state) { // failed, and not ended here
            bits = 0;
            next = step(state.begun, atom, bits);
            bits |= Folded::ends_before_previous;
        }
        return static_cast<std::uint32_t>(number_of(next)) << 3U | bits;
    }

    Pair step(State run, Atom atom, std::uint32_t& bits) const {
        const std::uint16_t entry = automaton_.step(run, atom);
        const bool accepts = (entry & 1U) != 0;
        const auto next = static_cast<State>(entry >> 1U);
        const auto begun = static_cast<State>(automaton_.step(start_state, atom) >> 1U);
        if (next != dead_state) {
            return {next, accepts && can_fail(next) ? begun : dead_state};
        }
        bits |= accepts ? Folded::ends_before_current : 0U;
        if (accepts && begun != dead_state) {
            return {begun, dead_state};
        }
        bits |= Folded::rare;
        return {start_state, dead_state};
    }

    // A character, or the end, makes the run fail without a match that ends before it.
    bool can_fail(State run) const {
        for (std::size_t atom = 0; atom < automaton_.stride; ++atom) {
            if (automaton_.step(run, static_cast<Atom>(atom)) == 0) {
                return true;
            }
        }
        return false;
    }

    std::size_t number_of(const Pair& pair) {
        const auto [entry, added] = numbers_.emplace(pair, numbers_.size());
        if (added) {
            pending_.push_back(pair);
        }
        return entry->second;
    }

    const Automaton& automaton_;
    std::map<Pair, std::size_t> numbers_;
    std::vector<Pair> pending_;
};

} // namespace

Folded fold(const Automaton& automaton) {
    return automaton.linear ? Folder(automaton).fold_all() : Folded{};
}

std::size_t scan_folded(const Folded& folded, const Automaton& automaton, std::string_view text,
                        std::size_t start, std::uint32_t* ends, std::size_t capacity) noexcept {
    const Atoms& atoms = automaton.atoms;
    const std::uint32_t* table = folded.table.data();
    std::size_t count = 0;
    std::size_t previous = start;
    std::size_t at = start;
    std::size_t state = 0;
    // Stored in any case, counted where they are ends: no branch to predict.
    const auto store = [&](std::uint32_t entry) {
        ends[count] = static_cast<std::uint32_t>(previous);
        count += entry & 1U;
        ends[count] = static_cast<std::uint32_t>(at);
        count += entry >> 1U & 1U;
    };
    while (at < text.size() && count + 2 <= capacity) {
        const Character character = read_character(atoms, text, at);
        const std::uint32_t entry = table[state + character.atom];
        store(entry);
        if ((entry & Folded::rare) != 0) {
            if (count == capacity) {
                return count;
            }
            const std::size_t from = count == 0 ? start : ends[count - 1];
            const std::size_t room = std::min<std::size_t>(capacity - count, 2);
            count += scan_with(automaton, text, from, ends + count, room);
            at = ends[count - 1];
            previous = at;
            state = 0;
            continue;
        }
        state = entry >> 3U;
        previous = at;
        at += character.bytes;
    }
    if (at == text.size() && count + 2 <= capacity) {
        store(table[state + atoms.count]);
    }
    const std::size_t from = count == 0 ? start : ends[count - 1];
    return count + scan_with(automaton, text, from, ends + count, capacity - count);
}

} // namespace jogak::pattern
