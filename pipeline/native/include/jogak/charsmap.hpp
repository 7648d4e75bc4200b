// charsmap: the normalization that a SentencePiece model carries, a trie of strings and what each
// becomes. Source: google/sentencepiece, normalizer.cc; the trie is a Darts-clone double array.
#pragma once

#include "jogak/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace jogak {

/// Immutable after construction, shared by threads.
class CharsMap {
  public:
    /// Takes `precompiled_charsmap` of a model; throws std::invalid_argument when it is damaged.
    explicit CharsMap(std::span<const std::uint8_t> blob);

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

    std::vector<std::uint32_t> units_;
    std::string texts_; // what strings become, each ended by a zero byte
};

/// What to do with spaces (U+0020 only).
struct SpaceRules {
    bool strip = false;   // none at either end of a document
    bool squeeze = false; // one for a run of several
};

/// Returns the documents with their spaces edited. O(n).
[[nodiscard]] std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
edit_spaces(const Documents& documents, SpaceRules rules);

} // namespace jogak
