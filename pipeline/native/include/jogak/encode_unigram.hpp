// encode_unigram: the pieces of highest total score, found by dynamic programming.
// Source: google/sentencepiece, unigram_model.cc, `EncodeOptimized`, in its float arithmetic.
#pragma once

#include "jogak/byte_trie.hpp"
#include "jogak/encode_characters.hpp"

namespace jogak {

/// A Unigram vocabulary as data.
struct UnigramVocabulary {
    /// Piece i is token_data[token_offsets[i], token_offsets[i + 1]), UTF-8; empty: never found.
    std::span<const std::uint8_t> token_data;
    std::span<const std::int64_t> token_offsets;
    /// By id.
    std::span<const float> scores;
    /// Ids that are chosen wherever they can be.
    std::span<const std::uint32_t> user_defined;
    /// The ids of the pieces for the 256 bytes; empty: no byte fallback.
    std::span<const std::uint32_t> byte_ids;
    TokenId unknown = 0;
};

/// Immutable after construction; safe to call from several threads.
class UnigramEncoder {
  public:
    /// Throws std::invalid_argument when sizes or ids do not fit.
    explicit UnigramEncoder(const UnigramVocabulary& vocabulary);

    /// Encodes documents of valid UTF-8, each as a whole. O(n * longest piece).
    [[nodiscard]] EncodedPieces encode(const Documents& documents, bool with_ends) const;

  private:
    struct Step {
        float score;
        TokenId id;
        std::uint32_t start;
    };
    void search(std::string_view text, std::vector<Step>& best) const;
    static void rebase(std::vector<Step>& best, std::size_t start, std::size_t reach);
    void write(std::string_view text, std::int64_t origin, const std::vector<Step>& path,
               bool with_ends, EncodedPieces& result) const;

    ByteTrie pieces_;
    std::vector<float> scores_;
    std::vector<bool> user_defined_;
    std::vector<TokenId> byte_ids_;
    TokenId unknown_;
    float unknown_score_;
    float largest_score_;
};

} // namespace jogak
