// measure: what a report sums over documents and over the tokens that were made of them.
#pragma once

#include "jogak/text.hpp"

#include <array>
#include <vector>

namespace jogak {

/// What is wrong with a document's text as it was read; bits of `inspect_text`.
inline constexpr std::uint8_t decomposed_hangul = 1;
inline constexpr std::uint8_t mojibake = 2;

/// Looks for two kinds of damage in each document (bits above). O(n).
///
/// decomposed_hangul: conjoining jamo that NFC would compose: L V, or an LV syllable and T.
/// mojibake, Hangul decoded with a wrong encoding, by any of these traces:
///   U+5360 U+C3D9 U+C619 (U+FFFD twice as UTF-8, read as CP949);
///   U+FFFD, one of U+0180-07FF, U+FFFD (CP949 read as UTF-8);
///   U+FFFD, syllable, Han; or syllable, Han, U+FFFD (UTF-8 read as CP949);
///   twice [U+00B0-00C8][U+00A1-00FE], two of the four being letters (CP949 read as Latin-1);
///   twice [U+00EA-00ED] and two that CP1252 or Latin-1 make of 80-BF (UTF-8 read as those).
[[nodiscard]] std::vector<std::uint8_t> inspect_text(const Documents& documents);

/// Sums over the tokens of one group of documents; the order is that of Python's `TokenSums`.
struct TokenSums {
    std::int64_t tokens = 0;
    std::int64_t words = 0;
    std::int64_t continued_words = 0;
    std::int64_t partial_tokens = 0;
    std::int64_t unknown_tokens = 0;
    std::int64_t syllables = 0;
    std::int64_t split_syllables = 0;
    std::int64_t exact_documents = 0;
};

/// What decoding takes off the joined bytes of a document's tokens.
struct DecodingRules {
    std::int64_t strip_start = 0; // U+0020 off the front, so many at most
    bool strip_last_space = false;
};

/// Sums up what the tokens of documents are, from the bytes of each token. Immutable, so that
/// threads may share it. A token has a part of a word if one of its bytes belongs to a character
/// of it; words are what Python's str.split leaves. Bytes that are not UTF-8 count as characters
/// other than white space.
class TokenMeter {
  public:
    /// Token i's bytes are tokens[i], none for an id that stands for no text. `unknown` is the
    /// unknown token's id, or -1.
    TokenMeter(const Documents& tokens, std::int64_t unknown, DecodingRules rules);

    [[nodiscard]] std::size_t size() const noexcept { return facts_.size(); }

    /// Adds up the tokens of documents by group. O(tokens + bytes).
    ///
    /// `ends`: ids up to each document's end; `groups`: the group of each, below the size of
    /// `sums`; `texts`: what was encoded, to compare with (nothing: none is exact); `counts`: of
    /// ids, group after group, which is added to. Throws std::invalid_argument where an id has no
    /// entry, or the sizes contradict each other.
    void measure(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                 std::span<const std::int32_t> groups, const Documents* texts,
                 std::span<TokenSums> sums, std::span<std::int64_t> counts) const;

  private:
    struct Facts {
        std::uint32_t words;     // runs of other than white space
        std::uint32_t syllables; // whole ones
        bool begins_word;        // with a byte of other than white space
        bool ends_word;
        bool solid;       // no white space at all
        bool partial;     // not whole characters
        bool ends_inside; // with the beginning of a character
    };
    struct Word {
        bool open = false;      // the last character belongs to a word
        bool continued = false; // .. of which two tokens have a part
    };

    [[nodiscard]] std::string_view token(TokenId id) const noexcept;
    [[nodiscard]] static Facts facts_of(std::string_view token);
    void take(const Facts& facts, Word& word, TokenSums& sums) const noexcept;
    std::size_t take_broken(std::span<const TokenId> ids, Word& word, TokenSums& sums) const;
    [[nodiscard]] bool is_exact(std::span<const TokenId> ids, std::string_view text) const noexcept;

    std::vector<std::uint8_t> data_;
    std::vector<std::int64_t> offsets_;
    std::vector<Facts> facts_;
    std::int64_t unknown_;
    DecodingRules rules_;
};

} // namespace jogak
