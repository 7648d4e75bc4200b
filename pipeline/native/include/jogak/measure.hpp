// measure: what a report sums over documents and over the tokens that were made of them.
#pragma once

#include "jogak/text.hpp"

#include <array>
#include <string_view>
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
    static constexpr std::size_t most_inline = 16;

    /// What a token is. All of it lies in half a cache line, its bytes too where they fit: a
    /// vocabulary is larger than the cache, and every table more is one more miss for a token.
    struct alignas(32) Facts {
        std::array<std::uint8_t, most_inline> bytes; // of tokens that are no longer than that
        std::uint32_t words;                         // runs of other than white space
        std::uint32_t syllables;                     // whole ones
        std::uint8_t size;                           // in bytes; most_inline + 1 for longer ones
        std::uint8_t begins_word : 1;                // with a byte of other than white space
        std::uint8_t ends_word : 1;
        std::uint8_t solid : 1;       // no white space at all
        std::uint8_t partial : 1;     // not whole characters
        std::uint8_t ends_inside : 1; // with the beginning of a character
    };
    static_assert(sizeof(Facts) == 32);
    struct Word {
        bool open = false;      // the last character belongs to a word
        bool continued = false; // .. of which two tokens have a part
    };
    /// Compares a text with the bytes of tokens that come one by one.
    class Comparison;

    [[nodiscard]] std::string_view token(TokenId id) const noexcept;
    [[nodiscard]] static Facts facts_of(std::string_view token);
    std::size_t take_broken(std::span<const TokenId> ids, Word& word, TokenSums& sums) const;
    [[nodiscard]] bool is_exact(std::span<const TokenId> ids, std::string_view text) const noexcept;
    void check_ids(std::span<const TokenId> ids) const;
    void measure_document(std::span<const TokenId> ids, std::size_t ahead,
                          const std::string_view* text, TokenSums& sums,
                          std::span<std::int64_t> counts) const;

    std::vector<std::uint8_t> data_;
    std::vector<std::int64_t> offsets_;
    std::vector<Facts> facts_;
    std::int64_t unknown_;
    DecodingRules rules_;
    bool is_plain_; // decoding joins the bytes of tokens and no more
};

} // namespace jogak
