#include "pretokenize_automaton.hpp"

#include "pretokenize_program.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr std::size_t most_work = 100'000'000;

using Threads = std::vector<std::uint32_t>;

class Builder {
  public:
    explicit Builder(const Program& program) : program_(program), mark_(program.code.size(), 0) {}

    void build(Automaton& automaton) {
        automaton.stride = program_.atom_count + 1;
        number_of({});
        number_of({0});
        // `pending_` grows while it is walked: each new state is appended to it.
        for (std::size_t state = 0; state < pending_.size(); ++state) {
            const Threads threads = pending_[state];
            for (std::size_t atom = 0; atom < automaton.stride; ++atom) {
                automaton.table.push_back(step(threads, atom));
            }
        }
        automaton.states = pending_.size();
    }

  private:
    std::uint16_t step(const Threads& threads, std::size_t atom) {
        bool accepted = false;
        const Threads takers = follow(threads, atom, accepted);
        Threads next;
        ++generation_;
        for (const std::uint32_t taker : takers) {
            const Instruction& instruction = program_.code[taker];
            if (program_.members[instruction.set][atom] && visit(instruction.next)) {
                next.push_back(instruction.next);
            }
        }
        return static_cast<std::uint16_t>(number_of(std::move(next)) << 1U | (accepted ? 1U : 0U));
    }

    // The instructions that take a character, in order of preference, up to the first match.
    Threads follow(const Threads& threads, std::size_t atom, bool& accepted) {
        Threads takers;
        Threads stack(threads.rbegin(), threads.rend());
        ++generation_;
        while (!stack.empty() && !accepted) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            if (!visit(at)) {
                continue;
            }
            const Instruction& instruction = program_.code[at];
            switch (instruction.operation) {
            case Operation::Take:
                takers.push_back(at);
                break;
            case Operation::Split:
                stack.push_back(instruction.other);
                stack.push_back(instruction.next);
                break;
            case Operation::LookAhead:
                if (atom == program_.atom_count ? instruction.end
                                                : program_.members[instruction.set][atom]) {
                    stack.push_back(instruction.next);
                }
                break;
            case Operation::Match:
                accepted = true;
                break;
            }
        }
        return takers;
    }

    bool visit(std::uint32_t at) {
        if (++work_ > most_work) {
            throw std::invalid_argument("a pattern too complex to compile");
        }
        const bool first = mark_[at] != generation_;
        mark_[at] = generation_;
        return first;
    }

    std::size_t number_of(Threads threads) {
        const auto [entry, added] = numbers_.emplace(std::move(threads), numbers_.size());
        if (added) {
            if (numbers_.size() > most_states) {
                throw std::invalid_argument("a pattern that needs more than " +
                                            std::to_string(most_states) + " states");
            }
            pending_.push_back(entry->first);
        }
        return entry->second;
    }

    const Program& program_;
    std::vector<std::size_t> mark_;
    std::size_t generation_ = 0;
    std::size_t work_ = 0;
    std::map<Threads, std::size_t> numbers_;
    std::vector<Threads> pending_;
};

} // namespace

Automaton build_automaton(const Node& tree) {
    Automaton automaton;
    const Program program = compile(tree, automaton.atoms);
    Builder(program).build(automaton);
    check_automaton(automaton);
    return automaton;
}

} // namespace jogak::pattern
