// charsmap: the normalization that a SentencePiece model carries, a trie of strings and what each
// becomes. Source: google/sentencepiece, normalizer.cc; the trie is a Darts-clone double array.
#pragma once

#include "jogak/byte_trie.hpp"
#include "jogak/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace jogak {

/// Immutable after construction, shared by threads.
class CharsMap {
  public:
    /// Takes `precompiled_charsmap` of a model; throws std::invalid_argument when it is damaged.
    /// `kept` are strings that stay as they are, the longest at a place before any of the map.
    explicit CharsMap(std::span<const std::uint8_t> blob, std::span<const std::string> kept = {});

    /// Returns documents of valid UTF-8 with the longest string of the map at each place replaced,
    /// from left to right; what no string matches stays. O(n * longest string).
    [[nodiscard]] std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
    apply(const Documents& documents) const;

  private:
    struct Found {
        std::size_t size = 0; // of the match; 0: none
        std::size_t value = 0;
    };
    [[nodiscard]] Found longest(std::string_view text) const noexcept;
    [[nodiscard]] std::size_t kept_size(std::string_view text) const noexcept;

    std::vector<std::uint32_t> units_;
    ByteTrie kept_;
    std::string texts_; // what strings become, each ended by a zero byte
};

/// SentencePiece's care for the white space of a document.
struct SpaceRules {
    bool strip_start = false;   // no U+0020 at the front
    bool squeeze = false;       // one U+0020 for a run of several
    std::string_view strip_end; // this text is not at the end, however often it was; empty: no rule
};

/// Returns the documents with their white space edited. O(n).
[[nodiscard]] std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
edit_spaces(const Documents& documents, const SpaceRules& rules);

} // namespace jogak
