// encode: byte-level BPE ids of documents. The contract of src/encode*.cpp.
//
// Merging is exact under three semantics: by listed pairs (as Hugging Face tokenizers), by the rank
// of the joined bytes (as tiktoken), each with or without "a pretoken that is a token stays whole".
#pragma once

#include "jogak/id_buffer.hpp"
#include "jogak/pretokenize.hpp"
#include "jogak/text.hpp"

#include <memory>
#include <vector>

namespace jogak {

/// Which adjacent pair is merged next; among equals always the leftmost.
enum class MergeRule {
    pairs, // the listed pair of lowest list index (Source: Hugging Face tokenizers, BPE)
    ranks, // the pair whose joined bytes are the token of lowest id (Source: tiktoken)
};

/// A byte-level vocabulary as data. The Encoder copies what it needs.
struct BpeVocabulary {
    /// Token i is token_data[token_offsets[i], token_offsets[i + 1]); empty: an id without bytes.
    std::span<const std::uint8_t> token_data;
    std::span<const std::int64_t> token_offsets;
    /// For `pairs`: left, right, result of each merge, in list order; of a pair that is listed
    /// twice the later entry counts. Empty for `ranks`.
    std::span<const std::uint32_t> merges;
    MergeRule rule;
    /// A pretoken that is a token becomes that token, even where merging would not make it.
    bool whole_first;
};

/// Sizes that tests set to force evictions and to compare with the plain algorithm.
struct EncoderOptions {
    /// Slots of the caches of units up to 7, 15 and 31 bytes; 0: chosen by vocabulary.
    std::size_t short_slots = 0;
    std::size_t narrow_slots = 0;
    std::size_t wide_slots = 0;
    /// Encode apart what no token can join (see cutting.hpp).
    bool cutting = true;
    /// Classes of characters to tell apart on each side of a boundary (2 to 2^14). The matrix of
    /// 8,192 has 8 MB; of published vocabularies only Qwen's have more.
    std::size_t most_classes = 8192;
};

struct EncodedDocuments {
    IdBuffer ids;
    /// Number of ids up to each document's end.
    std::vector<std::int64_t> document_ends;
};

/// Immutable after construction; the caches live in a pool from which each call takes one, so calls
/// from several threads are safe and never wait for each other's work.
class Encoder {
  public:
    /// Throws std::invalid_argument where the vocabulary contradicts itself: a merge whose ids are
    /// out of range or without bytes, or whose result is not its joined parts; two ids with the
    /// same bytes. Time linear in the bytes of the vocabulary, apart from hashing.
    explicit Encoder(const BpeVocabulary& vocabulary, const EncoderOptions& options = {});
    ~Encoder();
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    /// Encodes documents, each cut into pretokens by `scanner`. Bytes that are no UTF-8 are encoded
    /// as exactly as others, in the pretokens that the scanner makes of them.
    /// Throws std::runtime_error when a byte has no token. O(n log(longest pretoken)).
    [[nodiscard]] EncodedDocuments encode(const Documents& documents, const Scanner& scanner) const;

    /// The same with pretokens given: `ends`, ascending offsets into documents.data; every document
    /// that is not empty ends at one of them. Throws std::invalid_argument where they do not fit.
    [[nodiscard]] EncodedDocuments encode(const Documents& documents,
                                          std::span<const std::int64_t> ends) const;

    /// Whether pretokens are cut where no token can join two characters.
    [[nodiscard]] bool cutting() const noexcept;
    /// Bit i: text[begin + i] starts a character that is cut from the one before it, as the kernels
    /// named `isa` find it (simd::kernels, whose errors it has); for comparing kernels.
    [[nodiscard]] std::vector<std::uint64_t> cuts(std::span<const std::uint8_t> text,
                                                  std::size_t begin, std::size_t size,
                                                  const char* isa) const;
    /// Bytes of the tables that all threads share, and of what each thread adds.
    [[nodiscard]] std::size_t shared_bytes() const noexcept;
    [[nodiscard]] std::size_t thread_bytes() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace jogak
