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

#include "jogak/merge_table.hpp"

#include <unordered_map>

namespace jogak {

/// Plain pointers for the kernels. Class 0 joins everything.
struct CutTables {
    /// By code point below 2^16: the row (low half) and the column (high half) of its class.
    const std::uint32_t* classes;
    /// Bit `column` of row `row`, rows of `row_bits` bits: some token joins the two classes.
    const std::uint64_t* joined;
    std::size_t row_bits;
};

/// Sets bit i of `bits` where text[begin + i] starts a character that can be cut from the character
/// before it, for i below `size`; other bits of the (size + 63) / 64 words are cleared. `text` is
/// valid UTF-8 of `text_size` bytes, begin + size <= text_size; characters may straddle both ends.
void find_cuts(const CutTables& tables, const std::uint8_t* text, std::size_t text_size,
               std::size_t begin, std::size_t size, std::uint64_t* bits) noexcept;

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
    std::size_t row_bits_ = 0;
};

} // namespace jogak
