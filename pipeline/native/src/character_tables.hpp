// What encoding needs of a character-level vocabulary: the symbol of a character, the merge of a
// pair, and which characters any piece holds side by side.
#pragma once

#include "jogak/encode_characters.hpp"
#include "jogak/merge_table.hpp"

#include <string>
#include <vector>

namespace jogak {

inline constexpr std::uint32_t no_rank = 0xFFFFFFFF;

/// A character and how many bytes it has.
struct Character {
    std::uint32_t code;
    std::uint32_t size;
};

/// The character at the front of valid UTF-8.
[[nodiscard]] inline Character decode_character(const std::uint8_t* bytes) noexcept {
    const std::uint32_t lead = bytes[0];
    if (lead < 0x80) {
        return {lead, 1};
    }
    if (lead < 0xE0) {
        return {(lead & 0x1F) << 6 | (bytes[1] & 0x3FU), 2};
    }
    if (lead < 0xF0) {
        return {(lead & 0x0F) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU), 3};
    }
    return {(lead & 0x07) << 18 | (bytes[1] & 0x3FU) << 12 | (bytes[2] & 0x3FU) << 6 |
                (bytes[3] & 0x3FU),
            4};
}

/// From code points to ids, by pages of 256; absent ones give no_token.
class CharacterMap {
  public:
    CharacterMap();
    void set(std::uint32_t code, TokenId id);
    [[nodiscard]] TokenId find(std::uint32_t code) const noexcept {
        return ids_[pages_[code >> 8] + (code & 0xFF)];
    }

  private:
    std::vector<std::uint32_t> pages_; // where each page begins in ids_; page 0 of ids_ is empty
    std::vector<TokenId> ids_;
};

/// Merges by pair of ids.
class PairTable {
  public:
    struct Merge {
        std::uint32_t rank;
        TokenId result;
    };
    /// `ranks`: one for each merge, below no_rank, or empty: its place in the list.
    PairTable(std::span<const std::uint32_t> merges, std::span<const std::uint32_t> ranks);
    /// The merge of a pair; its rank is no_rank where there is none.
    [[nodiscard]] Merge find(TokenId left, TokenId right) const noexcept {
        const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | right;
        std::size_t slot = (key * 0x9E3779B97F4A7C15U) >> shift_;
        while (slots_[slot].key != key) {
            if (slots_[slot].key == free) {
                return {no_rank, 0};
            }
            slot = (slot + 1) & mask_;
        }
        return slots_[slot].merge;
    }

  private:
    static constexpr std::uint64_t free = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key = free;
        Merge merge{};
    };
    std::vector<Slot> slots_;
    std::size_t mask_;
    unsigned shift_;
};

/// Pairs of characters that stand side by side in some piece. It may say yes where it should say
/// no (one bit per hash, about 1 in 16), never the other way: a doubt means "do not cut".
class NeighbourFilter {
  public:
    explicit NeighbourFilter(const TokenIndex& pieces);
    [[nodiscard]] bool may_join(std::uint32_t left, std::uint32_t right) const noexcept {
        const std::size_t bit = place(left, right);
        return (bits_[bit / 64] >> (bit % 64) & 1) != 0;
    }

  private:
    [[nodiscard]] std::size_t place(std::uint32_t left, std::uint32_t right) const noexcept {
        const std::uint64_t key = static_cast<std::uint64_t>(left) << 21 | right;
        return (key * 0x9E3779B97F4A7C15U) >> shift_;
    }
    std::vector<std::uint64_t> bits_;
    unsigned shift_;
};

/// Immutable; shared by all threads.
class CharacterTables {
  public:
    /// Throws std::invalid_argument as CharacterEncoder does.
    explicit CharacterTables(const CharacterVocabulary& vocabulary);
    CharacterTables(const CharacterTables&) = delete;
    CharacterTables& operator=(const CharacterTables&) = delete;

    /// The symbol of a character, by its place in the pretoken; no_token outside the vocabulary.
    [[nodiscard]] TokenId symbol(std::uint32_t code, bool first, bool last) const noexcept {
        return affixed_
                   ? maps_[2 * static_cast<std::size_t>(first) + static_cast<std::size_t>(last)]
                         .find(code)
                   : maps_[0].find(code);
    }
    [[nodiscard]] const PairTable& pairs() const noexcept { return pairs_; }
    [[nodiscard]] bool cutting() const noexcept { return cutting_; }
    [[nodiscard]] const NeighbourFilter& neighbours() const noexcept { return neighbours_; }
    /// The piece that a whole pretoken is, under whole_first; else no_token.
    [[nodiscard]] TokenId whole(std::span<const std::uint8_t> bytes) const noexcept {
        return whole_first_ ? pieces_.find(bytes) : no_token;
    }

    [[nodiscard]] std::span<const TokenId> byte_ids() const noexcept { return byte_ids_; }
    [[nodiscard]] TokenId unknown() const noexcept { return unknown_; }
    [[nodiscard]] bool fuse_unknown() const noexcept { return fuse_unknown_; }
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    [[nodiscard]] const std::string& suffix() const noexcept { return suffix_; }

  private:
    void add_characters();
    static const CharacterVocabulary& check(const CharacterVocabulary& vocabulary);

    std::vector<std::uint8_t> data_;
    std::vector<std::int64_t> offsets_;
    TokenIndex pieces_; // views the two above
    PairTable pairs_;
    NeighbourFilter neighbours_;
    std::vector<CharacterMap> maps_;
    std::vector<TokenId> byte_ids_;
    TokenId unknown_;
    bool fuse_unknown_;
    bool whole_first_;
    std::string prefix_;
    std::string suffix_;
    bool affixed_;
    bool cutting_;
};

} // namespace jogak
