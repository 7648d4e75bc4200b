// pretokenize, second step: the code points as atoms, the coarsest partition that no class of the
// pattern cuts. Internal to src/pretokenize*.cpp.
#pragma once

#include "jogak/unicode.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

namespace jogak::pattern {

using Atom = std::uint8_t;
inline constexpr std::size_t most_atoms = 255;
/// A set of atoms; the bit after the last atom stands for the end of the text.
using AtomSet = std::bitset<most_atoms + 1>;

struct Atoms {
    std::size_t count = 0;
    std::array<Atom, 128> ascii{};
    /// Atom of a code point above: blocks[block_of[code >> 6] * 64 + (code & 63)].
    std::vector<std::uint16_t> block_of;
    std::vector<Atom> blocks;

    /// The atom of a code point up to 10FFFF.
    [[nodiscard]] Atom operator[](std::uint32_t code_point) const noexcept {
        return blocks[std::size_t{block_of[code_point >> 6U]} * 64 + (code_point & 63U)];
    }
};

/// Partitions the code points by the classes; `members[i]` becomes the atoms of classes[i].
/// Throws std::invalid_argument when there are more than `most_atoms`.
[[nodiscard]] Atoms partition(const std::vector<CharacterClass>& classes,
                              std::vector<AtomSet>& members);

} // namespace jogak::pattern
