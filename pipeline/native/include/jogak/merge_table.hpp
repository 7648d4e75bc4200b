// What merging needs of a vocabulary, reduced to what can ever happen.
//
// A token t is made, wherever it is made, by the same last merge: until then no merge crosses the
// ends of t's bytes, so inside them everything happens as if they stood alone. Hence each token has
// at most one pair that ever fires, the last one when its bytes are merged alone; every other pair
// that lists say gives t never fires and is left out (Llama-3 lists 280,147 pairs for 128,000
// tokens). What remains is one rank per token, so tokens are renumbered by rank: a pair's result is
// its own priority, and one entry of the pair table is a single 64-bit word.
#pragma once

#include "jogak/encode.hpp"
#include "jogak/hashing.hpp"
#include "jogak/page_array.hpp"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

namespace jogak {

/// A token while it is merged: 0-255 are the bytes, 256 + k is the k-th merge that can fire.
using Symbol = std::uint32_t;
inline constexpr Symbol first_merged_symbol = 256;
/// No pair; above every symbol, so that the smallest result is the next merge.
inline constexpr Symbol no_symbol = 0xFFFFFFFFU;
/// Stands where there is no neighbour; joins nothing.
inline constexpr Symbol missing_symbol = (1U << 21) - 1;
/// An id that no vocabulary has: bytes without a token.
inline constexpr TokenId no_token = 0xFFFFFFFFU;

/// The bytes of tokens, found by content.
class TokenIndex {
  public:
    /// Throws std::invalid_argument when two tokens have the same bytes.
    TokenIndex(std::span<const std::uint8_t> data, std::span<const std::int64_t> offsets);

    [[nodiscard]] std::span<const std::uint8_t> bytes(TokenId id) const noexcept {
        const auto begin = static_cast<std::size_t>(offsets_[id]);
        return data_.subspan(begin, static_cast<std::size_t>(offsets_[id + 1]) - begin);
    }
    /// The token with these bytes, or no_token.
    [[nodiscard]] TokenId find(std::span<const std::uint8_t> bytes) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }

  private:
    struct Entry {
        std::uint32_t tag;
        TokenId id;
    };
    std::span<const std::uint8_t> data_;
    std::span<const std::int64_t> offsets_;
    std::vector<Entry> entries_;
    std::size_t mask_ = 0;
};

/// Immutable; shared by all threads.
class MergeTable {
  public:
    /// Throws std::invalid_argument as Encoder does.
    explicit MergeTable(const BpeVocabulary& vocabulary);
    MergeTable(const MergeTable&) = delete;
    MergeTable& operator=(const MergeTable&) = delete;

    /// The symbol that two adjacent symbols make, or no_symbol; either may be `missing_symbol`.
    ///
    /// A merge waits for these loads, so the branches are meant: guessed right, most often that
    /// there is no such pair, they let it go on (without them: a quarter slower, measured).
    [[nodiscard]] Symbol join(Symbol left, Symbol right) const noexcept {
        const std::uint64_t key = pair_key(left, right);
        const std::uint64_t hash = key * pair_multiplier;
        const std::size_t bit = hash >> presence_shift_;
        if ((presence_[bit / 64] >> (bit % 64) & 1) == 0) {
            return no_symbol;
        }
        for (std::size_t slot = hash >> pair_shift_;; ++slot) {
            const std::uint64_t entry = pairs_[slot];
            if ((entry & pair_key_mask) == key) {
                return static_cast<Symbol>(entry >> (2 * symbol_bits));
            }
            if (entry == no_pair) {
                return no_symbol;
            }
        }
    }

    /// Asks for what `join` reads where there is such a pair.
    void prefetch(Symbol left, Symbol right) const noexcept {
        __builtin_prefetch(pairs_ + (pair_key(left, right) * pair_multiplier >> pair_shift_));
    }

    /// The same for two bytes, where most merging begins: from few cache lines that the pairs of a
    /// script share.
    [[nodiscard]] Symbol join_bytes(Symbol left, Symbol right) const noexcept {
        return byte_pairs_[left << 8 | right];
    }

    /// The id of a symbol; no_token for a byte that the vocabulary lacks.
    [[nodiscard]] TokenId token(Symbol symbol) const noexcept { return tokens_[symbol]; }
    /// The two symbols that a symbol above 255 is made of.
    [[nodiscard]] std::pair<Symbol, Symbol> parts(Symbol symbol) const noexcept {
        return parts_[symbol - first_merged_symbol];
    }
    /// Number of symbols, the 256 bytes included.
    [[nodiscard]] std::size_t size() const noexcept { return tokens_.size(); }

    /// Whether some tokens are only found by whole_first.
    [[nodiscard]] bool has_unmerged() const noexcept { return unmerged_.has_value(); }
    /// The token with these bytes that merging does not make, when whole_first is set; else
    /// no_token.
    [[nodiscard]] TokenId find_unmerged(std::span<const std::uint8_t> bytes) const noexcept;
    /// All tokens of find_unmerged: their number, and the bytes of each.
    [[nodiscard]] std::size_t unmerged_size() const noexcept { return unmerged_ids_.size(); }
    [[nodiscard]] std::span<const std::uint8_t> unmerged_bytes(std::size_t index) const noexcept {
        return unmerged_->bytes(static_cast<TokenId>(index));
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    static constexpr unsigned symbol_bits = 21;
    static constexpr std::uint64_t pair_key_mask = (std::uint64_t{1} << (2 * symbol_bits)) - 1;
    static constexpr std::uint64_t no_pair = ~std::uint64_t{0};
    static constexpr std::uint64_t pair_multiplier = 0x9e3779b97f4a7c15U;

    [[nodiscard]] static std::uint64_t pair_key(Symbol left, Symbol right) noexcept {
        return static_cast<std::uint64_t>(right) << symbol_bits | left;
    }
    void add_pairs();
    void add_unmerged(const TokenIndex& index, std::vector<TokenId> ids);

    std::vector<TokenId> tokens_;
    std::vector<Symbol> byte_pairs_; // what byte `index >> 8` makes with byte `index & 255`
    std::vector<std::pair<Symbol, Symbol>> parts_;
    std::optional<PageArray<std::uint64_t>> pair_pages_;
    std::uint64_t* pairs_ = nullptr;
    std::size_t pairs_size_ = 0;
    unsigned pair_shift_ = 0;
    /// One bit per hash value: most lookups are of pairs that do not exist, and this answers them
    /// from at most 256 KB (for 200,000 tokens) instead of the megabytes of `pairs_`.
    std::vector<std::uint64_t> presence_;
    unsigned presence_shift_ = 0;

    std::vector<std::uint8_t> unmerged_data_;
    std::vector<std::int64_t> unmerged_offsets_;
    std::vector<TokenId> unmerged_ids_;
    std::optional<TokenIndex> unmerged_; // views the two above
};

} // namespace jogak
