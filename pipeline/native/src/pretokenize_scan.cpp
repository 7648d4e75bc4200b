#include "pretokenize_scan.hpp"

#include <memory>
#include <new>

namespace jogak::pattern {

namespace {

struct Run {
    std::size_t accepted; // the end of the match, or where the run began
    std::size_t read;     // the end of what was read
};

// Runs the automaton from `begin`, where it is in `state`, until it fails. `proceed(at, state)` is
// asked before each character but the first.
template <typename Proceed>
Run run(const Automaton& automaton, std::string_view text, std::size_t begin, State state,
        Proceed proceed) noexcept {
    const auto end_of_text = static_cast<Atom>(automaton.atoms.count);
    std::size_t accepted = begin;
    std::size_t at = begin;
    do {
        const Character character = at < text.size() ? read_character(automaton.atoms, text, at)
                                                     : Character{end_of_text, 0};
        const std::uint16_t entry = automaton.step(state, character.atom);
        accepted = (entry & 1U) != 0 ? at : accepted;
        state = static_cast<State>(entry >> 1U);
        at += character.bytes;
    } while (state != dead_state && proceed(at, state));
    return {accepted, at};
}

// Matches with a pattern that is not `linear`: what a run read in vain is remembered, at one place
// in each block of the text, as the states from which no match follows there, so that the next
// run ends at the first such place. Without memory for it the result is the same, only later.
class GuardedMatcher {
  public:
    GuardedMatcher(const Automaton& automaton, std::string_view text, std::size_t start)
        : automaton_(automaton), text_(text), start_(start),
          shift_(automaton.states <= 64    ? 6
                 : automaton.states <= 512 ? 8
                                           : 12) {}

    std::size_t match(std::size_t begin) noexcept {
        const Run found =
            run(automaton_, text_, begin, start_state, [this](std::size_t at, State state) {
                return !enters_block(at) || !hopeless(at, state);
            });
        wasted_ += found.read - found.accepted;
        if (wasted_ > least_waste && wasted_ > 2 * (found.accepted - start_) && make_room()) {
            remember(begin, found);
        }
        return found.accepted;
    }

  private:
    static constexpr std::size_t least_waste = 4096;

    bool enters_block(std::size_t at) const noexcept {
        // Every run reads the same characters, so every run stops at the same places.
        std::size_t previous = at - 1;
        while (previous > 0 && (static_cast<unsigned char>(text_[previous]) & 0xC0U) == 0x80) {
            --previous;
        }
        return at < text_.size() && (at >> shift_) != (previous >> shift_);
    }

    std::size_t bit(std::size_t at, State state) const noexcept {
        return ((at >> shift_) - (start_ >> shift_)) * automaton_.states + state;
    }

    bool hopeless(std::size_t at, State state) const noexcept {
        return bits_ && (bits_[bit(at, state) / 64] >> (bit(at, state) % 64) & 1U) != 0;
    }

    bool make_room() noexcept {
        if (!bits_) {
            const std::size_t words = bit(text_.size(), 0) / 64 + automaton_.states / 64 + 2;
            bits_.reset(new (std::nothrow) std::uint64_t[words]());
        }
        return bits_ != nullptr;
    }

    void remember(std::size_t begin, const Run& found) noexcept {
        run(automaton_, text_, begin, start_state, [&](std::size_t at, State state) {
            if (at > found.accepted && at < found.read && enters_block(at)) {
                bits_[bit(at, state) / 64] |= std::uint64_t{1} << (bit(at, state) % 64);
            }
            return at < found.read;
        });
    }

    const Automaton& automaton_;
    std::string_view text_;
    std::size_t start_;
    std::size_t shift_;
    std::size_t wasted_ = 0;
    std::unique_ptr<std::uint64_t[]> bits_;
};

// Writes ends until `capacity` or the end of the text; `match` gives the end of the pretoken that
// the pattern matches at a place, or that place where it matches none.
template <typename Match>
std::size_t scan_by(const Automaton& automaton, std::string_view text, std::size_t start,
                    std::uint32_t* ends, std::size_t capacity, Match match) noexcept {
    std::size_t count = 0;
    std::size_t done = start; // end of the last pretoken
    std::size_t at = start;   // ahead of `done` only in text that the pattern does not match
    while (at < text.size() && count < capacity) {
        const std::size_t end = match(at);
        if (end == at) {
            at += read_character(automaton.atoms, text, at).bytes;
            continue;
        }
        if (at != done) {
            ends[count++] = static_cast<std::uint32_t>(at);
            done = at;
        }
        if (count < capacity) {
            ends[count++] = static_cast<std::uint32_t>(end);
            done = end;
            at = end;
        }
    }
    if (at == text.size() && at != done && count < capacity) {
        ends[count++] = static_cast<std::uint32_t>(at);
    }
    return count;
}

} // namespace

std::size_t scan_with(const Automaton& automaton, std::string_view text, std::size_t start,
                      std::uint32_t* ends, std::size_t capacity) noexcept {
    if (automaton.linear) {
        const auto always = [](std::size_t, State) { return true; };
        return scan_by(automaton, text, start, ends, capacity, [&](std::size_t at) {
            return run(automaton, text, at, start_state, always).accepted;
        });
    }
    GuardedMatcher matcher(automaton, text, start);
    return scan_by(automaton, text, start, ends, capacity,
                   [&](std::size_t at) { return matcher.match(at); });
}

} // namespace jogak::pattern
