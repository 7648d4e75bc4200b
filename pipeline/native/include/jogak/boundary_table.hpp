// What can happen between two adjacent characters of a pretoken, by their classes.
//
// The first merge across the boundary X|Y joins a symbol that ends there and one that starts there,
// so it is the last merge (a, b) of some token, with a ending in X, or being a proper suffix of X's
// bytes, and b starting with Y, or being a proper prefix of Y's bytes. Two things follow.
//
// Cuts. If the vocabulary has no such token, nothing ever crosses X|Y: both sides can be encoded
// apart, with the same ids.
//
// Starts. A character X that is a token can be merged from that token on instead of from its bytes,
// if it always becomes that token before anything else happens to its bytes. Let R be the highest
// symbol in the derivation of X. What could interfere is a merge with a part of X only, a suffix
// at X|Y or a prefix at W|X; if all those that the neighbours allow are above R, they find X
// complete, and what the neighbours themselves have become does not matter. And to have X early
// must not let another merge come early: every token that holds all of X must be above R.
//
// Only characters of three bytes and ASCII are told apart; next to any other character there is no
// cut and no early start, and no cut between two ASCII characters, whose words are better kept
// whole.
#pragma once

#include "jogak/cut_kernel.hpp"
#include "jogak/merge_table.hpp"

#include <algorithm>

namespace jogak {

/// Rows of bits for few of the classes of one side. Class 0 has all bits, for anything may happen
/// to its characters; all others share a row that has bit 0 alone, for so it is next to them.
class PartRows {
  public:
    PartRows() = default;
    PartRows(std::size_t rows, std::size_t columns)
        : words_((columns + 63) / 64), index_(rows), bits_(2 * words_) {
        bits_[0] = 1;
        std::fill(bits_.begin() + static_cast<std::ptrdiff_t>(words_), bits_.end(),
                  ~std::uint64_t{0});
        index_[0] = 1;
    }

    [[nodiscard]] bool test(std::size_t row, std::size_t column) const noexcept {
        const std::uint64_t word = bits_[index_[row] * words_ + column / 64];
        return (word >> (column % 64) & 1) != 0;
    }
    /// Sets bits of a row, giving it a place of its own.
    void add(std::size_t row, std::span<const std::uint64_t> columns);

    [[nodiscard]] std::size_t words() const noexcept { return words_; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return index_.size() * sizeof(index_[0]) + bits_.size() * sizeof(bits_[0]);
    }

  private:
    std::size_t words_ = 0;
    std::vector<std::uint16_t> index_;
    std::vector<std::uint64_t> bits_;
};

/// Immutable; shared by all threads.
class BoundaryTable {
  public:
    /// `vocabulary` is the one that `table` was built from; only read here.
    /// `most_classes` bounds the classes of a side; characters beyond go into class 0.
    BoundaryTable(const MergeTable& table, const BpeVocabulary& vocabulary, FindCuts* kernel,
                  std::size_t most_classes);

    /// See FindCuts.
    void find_cuts(const std::uint8_t* text, std::size_t text_size, std::size_t begin,
                   std::size_t size, std::uint64_t* bits) const noexcept {
        find_cuts_(cut_tables(), text, text_size, begin, size, bits);
    }

    [[nodiscard]] CutTables cut_tables() const noexcept {
        return {classes_.data(), joined_.data(), row_bits_};
    }

    /// Writes the symbols from which the merging of a unit (one byte or more) may start, and
    /// returns how many: characters that surely become one symbol as that, all else as bytes.
    /// `symbols` has room for as many as there are bytes.
    std::size_t start(const std::uint8_t* bytes, std::size_t size, Symbol* symbols) const noexcept;

    /// How many merges cross a boundary between two Hangul syllables: some 1,000 in vocabularies of
    /// many languages, some 50,000 in one trained on Korean.
    [[nodiscard]] std::size_t hangul_merges() const noexcept { return hangul_merges_; }

    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    struct Builder;
    struct Character;

    [[nodiscard]] Character character(const std::uint8_t* bytes, std::size_t size) const noexcept;

    FindCuts* find_cuts_;
    std::vector<std::uint32_t> classes_;
    std::vector<std::uint64_t> joined_;
    /// By code point: its symbol if it may be started from that, else no_symbol.
    std::vector<Symbol> characters_;
    /// Bit `column` of a row: the right neighbour may take a part of the left character; and, with
    /// sides exchanged, bit `row` of a column.
    PartRows left_parts_;
    PartRows right_parts_;
    std::uint32_t row_bits_ = 0;
    std::size_t hangul_merges_ = 0;
};

} // namespace jogak
