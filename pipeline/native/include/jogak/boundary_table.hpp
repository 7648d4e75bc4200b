// What can happen between two adjacent characters of a pretoken, by their classes.
//
// The first merge across the boundary X|Y joins a symbol that ends there and one that starts there,
// so it is the last merge (a, b) of some token, with a ending in X, or being a proper suffix of X's
// bytes, and b starting with Y, or being a proper prefix of Y's bytes. If the vocabulary has no
// such token, nothing ever crosses X|Y: both sides can be encoded apart, with the same ids.
//
// Only characters of three bytes and ASCII are told apart; next to any other character there is no
// cut, and none between two ASCII characters, whose words are better kept whole.
#pragma once

#include "jogak/cut_kernel.hpp"
#include "jogak/merge_table.hpp"

#include <unordered_map>

namespace jogak {

/// Immutable; shared by all threads.
class BoundaryTable {
  public:
    /// `vocabulary` is the one that `table` was built from; only read here.
    BoundaryTable(const MergeTable& table, const BpeVocabulary& vocabulary);

    [[nodiscard]] CutTables cut_tables() const noexcept {
        return {classes_.data(), joined_.data(), row_bits_};
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    struct Builder;

    std::vector<std::uint32_t> classes_;
    std::vector<std::uint64_t> joined_;
    std::uint32_t row_bits_ = 0;
};

} // namespace jogak
