#include "pretokenize_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr std::size_t most_instructions = 50'000;

// A possessive loop: what follows it begins at `exit`; its body is one class (`set`), or not.
struct Loop {
    std::uint32_t exit;
    bool one_class;
    std::uint32_t set;
};

class Compiler {
  public:
    Program compile_all(const Node& tree, Atoms& atoms) {
        emit(tree);
        add({Operation::Match});
        atoms = partition(classes_, program_.members);
        program_.atom_count = atoms.count;
        for (const Loop& loop : possessive_) {
            check(loop);
        }
        return std::move(program_);
    }

  private:
    std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }

    std::uint32_t add(Instruction instruction) {
        if (program_.code.size() == most_instructions) {
            throw std::invalid_argument("a pattern whose repeats are too large");
        }
        instruction.next = here() + 1;
        program_.code.push_back(instruction);
        return here() - 1;
    }

    std::uint32_t set_number(const CharacterClass& set) {
        const auto found = std::find(classes_.begin(), classes_.end(), set);
        const auto number = static_cast<std::uint32_t>(found - classes_.begin());
        if (found == classes_.end()) {
            classes_.push_back(set);
        }
        return number;
    }

    void emit(const Node& node) {
        switch (node.kind) {
        case Kind::Sequence:
            for (const Node& child : node.children) {
                emit(child);
            }
            break;
        case Kind::Choice:
            emit_choice(node);
            break;
        case Kind::Class:
            add({Operation::Take, false, set_number(node.set)});
            break;
        case Kind::LookAhead:
            add({Operation::LookAhead, node.end, set_number(node.set)});
            break;
        case Kind::Repeat:
            emit_repeat(node);
            break;
        }
    }

    void emit_choice(const Node& node) {
        std::vector<std::uint32_t> jumps;
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            if (i + 1 == node.children.size()) {
                emit(node.children[i]);
                break;
            }
            const std::uint32_t split = add({Operation::Split});
            emit(node.children[i]);
            jumps.push_back(add_jump());
            program_.code[split].other = here();
        }
        for (const std::uint32_t jump : jumps) {
            set_jump(jump, here());
        }
    }

    // A jump is a choice between one and the same.
    std::uint32_t add_jump() { return add({Operation::Split}); }
    void set_jump(std::uint32_t jump, std::uint32_t target) {
        program_.code[jump].next = target;
        program_.code[jump].other = target;
    }

    void emit_repeat(const Node& node) {
        const Node& body = node.children[0];
        for (std::uint32_t i = 0; i < node.least; ++i) {
            emit(body);
        }
        std::vector<std::uint32_t> splits;
        if (node.most == unlimited) {
            splits.push_back(add({Operation::Split}));
            emit(body);
            set_jump(add_jump(), splits[0]);
        } else {
            for (std::uint32_t i = node.least; i < node.most; ++i) {
                splits.push_back(add({Operation::Split}));
                emit(body);
            }
        }
        for (const std::uint32_t split : splits) {
            Instruction& choice = program_.code[split];
            choice.other = here();
            if (node.mode == Mode::Lazy) {
                std::swap(choice.next, choice.other);
            }
        }
        const bool one_class = body.kind == Kind::Class;
        const bool fixed = one_class && node.least == node.most;
        if (node.mode == Mode::Possessive && !fixed) {
            possessive_.push_back({here(), one_class, one_class ? set_number(body.set) : 0});
        }
    }

    void check(const Loop& loop) const {
        bool always_succeeds = false;
        AtomSet everything;
        everything.set();
        const AtomSet follow = first_of(loop.exit, everything, always_succeeds);
        if (always_succeeds) {
            return;
        }
        if (!loop.one_class || (follow & program_.members[loop.set]).any()) {
            throw std::invalid_argument(
                "a possessive quantifier that gives up what follows it could match");
        }
    }

    // The atoms that can come next on some way from `at` to a match.
    AtomSet first_of(std::uint32_t at, const AtomSet& allowed, bool& always_succeeds) const {
        AtomSet first;
        std::vector<std::pair<std::uint32_t, AtomSet>> stack{{at, allowed}};
        std::vector<std::pair<std::uint32_t, AtomSet>> seen;
        while (!stack.empty()) {
            const auto [place, atoms] = stack.back();
            stack.pop_back();
            if (atoms.none() ||
                std::find(seen.begin(), seen.end(), std::pair{place, atoms}) != seen.end()) {
                continue;
            }
            seen.emplace_back(place, atoms);
            const Instruction& instruction = program_.code[place];
            AtomSet set = program_.members[instruction.set];
            switch (instruction.operation) {
            case Operation::Take:
                first |= atoms & set;
                break;
            case Operation::Split:
                stack.emplace_back(instruction.other, atoms);
                stack.emplace_back(instruction.next, atoms);
                break;
            case Operation::LookAhead:
                set[program_.atom_count] = instruction.end;
                stack.emplace_back(instruction.next, atoms & set);
                break;
            case Operation::Match:
                first |= atoms;
                always_succeeds = always_succeeds || atoms == allowed;
                break;
            }
        }
        return first;
    }

    Program program_;
    std::vector<CharacterClass> classes_;
    std::vector<Loop> possessive_;
};

} // namespace

Program compile(const Node& tree, Atoms& atoms) { return Compiler().compile_all(tree, atoms); }

} // namespace jogak::pattern
