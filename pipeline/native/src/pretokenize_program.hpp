// pretokenize, between tree and automaton: the tree as a program of choices. Internal to
// src/pretokenize*.cpp.
#pragma once

#include "pretokenize_atoms.hpp"
#include "pretokenize_parser.hpp"

#include <cstdint>
#include <vector>

namespace jogak::pattern {

enum class Operation : std::uint8_t { Take, Split, LookAhead, Match };

/// One step of a backtracking matcher. Take reads one atom of `set`; LookAhead goes on where one
/// of `set`, or (`end`) the end of the text, comes next; Split prefers `next` to `other`.
struct Instruction {
    Operation operation;
    bool end = false;
    std::uint32_t set = 0;
    std::uint32_t next = 0;
    std::uint32_t other = 0;
};

struct Program {
    std::vector<Instruction> code; // begins at 0
    std::vector<AtomSet> members;  // the atoms of each set
    std::size_t atom_count = 0;
};

/// Compiles a tree, partitioning the code points by its classes. Possessive quantifiers are
/// compiled as greedy ones where that is the same: nothing that follows could start with what
/// the loop would have to give back, or what follows always succeeds. Throws
/// std::invalid_argument elsewhere.
[[nodiscard]] Program compile(const Node& tree, Atoms& atoms);

} // namespace jogak::pattern
