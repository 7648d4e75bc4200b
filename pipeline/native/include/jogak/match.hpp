// match: fixed strings in text, for added tokens and for replacements before the text is cut.
#pragma once

#include "jogak/byte_trie.hpp"
#include "jogak/text.hpp"

#include <array>
#include <string>
#include <vector>

namespace jogak {

/// One occurrence: data[start, end) is pattern number `pattern`.
struct Match {
    std::int64_t start;
    std::int64_t end;
    std::uint32_t pattern;
};

/// A set of strings to find at once. Immutable after construction, shared by threads.
class Matcher {
  public:
    /// Takes distinct strings, none of them empty; throws std::invalid_argument otherwise.
    explicit Matcher(const std::vector<std::string>& patterns);

    /// Returns the occurrences in each document, leftmost first and of those the longest, without
    /// overlaps, as aho-corasick's LeftmostLongest finds them. O(n) where few positions begin like
    /// a pattern, at worst O(n * longest pattern).
    [[nodiscard]] std::vector<Match> find(const Documents& documents) const;

  private:
    [[nodiscard]] std::size_t next_first(std::string_view data, std::size_t from) const noexcept;
    [[nodiscard]] Match longest_at(std::string_view text, std::size_t position) const noexcept;

    ByteTrie patterns_;
    std::vector<bool> pairs_; // by first two bytes: may a pattern begin so
    std::string firsts_;      // with which bytes patterns begin
    std::array<bool, 256> is_first_{};
};

/// Returns the documents with every occurrence of `old_text` (not empty; leftmost first, without
/// overlaps, inside a document) replaced: the new data, and the new offsets. O(n).
[[nodiscard]] std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>>
replace_text(const Documents& documents, std::string_view old_text, std::string_view new_text);

} // namespace jogak
