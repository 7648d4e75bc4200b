// encode_characters: character-level BPE ids of documents. Merging is by listed pairs, from single
// characters; a character outside the vocabulary becomes its bytes' pieces, or the unknown token.
//
// Source: Hugging Face tokenizers, models/bpe/{model,word}.rs. Also copied is that its queue tells
// a stale entry by the merge's result alone: where several pairs make one token, an entry of one
// pair can fire for another.
#pragma once

#include "jogak/encode.hpp"

#include <optional>
#include <string_view>

namespace jogak {

/// A character-level vocabulary as data. The encoder copies what it needs.
struct CharacterVocabulary {
    /// Piece i is token_data[token_offsets[i], token_offsets[i + 1]), UTF-8; empty: no piece.
    std::span<const std::uint8_t> token_data;
    std::span<const std::int64_t> token_offsets;
    /// left, right, result of each merge, in list order; no pair twice.
    std::span<const std::uint32_t> merges;
    /// The rank of each merge; among equal ones the leftmost pair is next (SentencePiece: pairs
    /// whose pieces have equal scores). Empty: a merge's rank is its place in the list.
    std::span<const std::uint32_t> ranks;
    /// The ids of the pieces for the 256 bytes; empty: no byte fallback.
    std::span<const std::uint32_t> byte_ids;
    std::optional<TokenId> unknown;
    /// Neighbouring unknown characters are one unknown token.
    bool fuse_unknown = false;
    /// A pretoken that is a piece becomes that piece, even where merging would not make it.
    bool whole_first = false;
    /// What every character but a pretoken's first is looked up with in front, and its last behind.
    std::string_view prefix;
    std::string_view suffix;
};

struct EncodedPieces {
    IdBuffer ids;
    /// Number of ids up to each document's end.
    std::vector<std::int64_t> document_ends;
    /// The end of each id's text, as an offset into the documents' data; empty unless asked for.
    std::vector<std::int64_t> id_ends;
};

/// Immutable after construction; safe to call from several threads.
class CharacterEncoder {
  public:
    /// Throws std::invalid_argument when an id is out of range.
    explicit CharacterEncoder(const CharacterVocabulary& vocabulary);
    ~CharacterEncoder();
    CharacterEncoder(const CharacterEncoder&) = delete;
    CharacterEncoder& operator=(const CharacterEncoder&) = delete;

    /// Encodes documents of valid UTF-8, cut into pretokens at `ends`: ascending offsets into
    /// documents.data; every document that is not empty ends at one of them.
    /// Throws std::invalid_argument where they do not fit, std::runtime_error at a character that
    /// has neither piece nor fallback. O(n log(longest pretoken)).
    [[nodiscard]] EncodedPieces encode(const Documents& documents,
                                       std::span<const std::int64_t> ends, bool with_ends) const;

    /// Whether pretokens are cut where no token can join two characters (as in encode.hpp).
    [[nodiscard]] bool cutting() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace jogak
