// train: byte-pair merges from counted pretokens, exactly as if every pair were counted anew before
// each merge. Source: Sennrich et al. 2016, with the tie rules of the libraries named below.
#pragma once

#include "jogak/text.hpp"

#include <atomic>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace jogak {

/// Which pair goes first among those of the highest count.
enum class Ties : std::uint8_t {
    smallest_ids,  ///< smallest (id of left, id of right), as Hugging Face tokenizers
    lexicographic, ///< smallest (bytes of left, bytes of right)
    largest,       ///< largest (bytes of left, bytes of right), as subword-nmt
    first_seen     ///< earliest live occurrence in the text, as minbpe and Counter.most_common
};

/// Parameters that change time and memory, never the result. Tests draw them at random.
struct TrainTuning {
    std::uint32_t exact_length = 32; ///< pairs with this many occurrences have an exact count
    Count prune_below = 16;          ///< rarer pairs are not stored until nothing else is left
    std::uint32_t block = 256;       ///< occurrences that are rewritten before neighbours are read
    std::uint32_t bucket_limit = 1U << 16;      ///< counts from here on are queued in a heap
    std::uint32_t narrow_tokens = 65533;        ///< up to so many tokens, symbols have 16 bits
    std::uint32_t short_text = (1U << 24U) - 1; ///< up to so many symbols, places have 3 bytes
    std::uint32_t share = 1U << 22U;            ///< so many places are sorted at once, or a quarter
    std::uint32_t parallel_from = 1U << 16U;    ///< threads divide a text of so many symbols
    std::size_t segment_merges = 4096;          ///< at most so many merges are made on segments
    std::uint32_t segment_percent = 150; ///< with so many bytes in 100 characters, they are used
    std::size_t segment_joins = 4;       ///< segments that a merge may join on average
    std::uint32_t segments = 65533;      ///< there are to be at most so many
    bool check_counts = false; ///< recount every pair before it merges; throws if it differs
};

struct TrainOptions {
    std::size_t merges = 0; ///< at most so many
    Ties ties = Ties::smallest_ids;
    Count min_count = 2; ///< no merge with a count below it; at least 1
    std::size_t max_token_bytes = std::numeric_limits<std::size_t>::max();
    /// No token touches more characters, whole or in part; an alphabet's suffix is none.
    std::size_t max_token_chars = std::numeric_limits<std::size_t>::max();
    /// No token joins part of a character to anything outside that character.
    bool whole_characters = false;
    /// The strings that no merge may make: special tokens, which text must never become.
    std::vector<std::string> forbidden;
    unsigned threads = 1; ///< that find pairs; merging uses one. They do not show in the result
    TrainTuning tuning;
};

/// The symbols that text consists of before the first merge: token i has the bytes tokens[i].
struct Alphabet {
    std::vector<std::string> tokens; ///< empty where an id has no text and never occurs
    /// Symbols are characters, looked up whole first; where one is not a token its bytes are, and
    /// where those are not either, no pair spans the place. Otherwise symbols are bytes.
    bool characters = false;
    /// What the last character of every pretoken is looked up with, such as "</w>": it is a symbol
    /// of its own, apart from the same character elsewhere. Only with characters, and with encoded
    /// words, whose tokens may end so.
    std::string suffix;
};

/// What a training run reads: distinct pretokens, their counts, and their first positions.
struct TrainInput {
    Documents pretokens;
    std::span<const Count> counts;
    std::span<const std::uint64_t> first;
    Alphabet alphabet;
    /// Instead of pretokens, words that are encoded already, to go on from an earlier vocabulary:
    /// word i is symbols[symbol_offsets[i]] up to symbols[symbol_offsets[i + 1]], indices of the
    /// alphabet, whose tokens then are of any length.
    std::span<const TokenId> symbols;
    std::span<const std::int64_t> symbol_offsets;

    [[nodiscard]] bool encoded() const noexcept { return !symbol_offsets.empty(); }
    [[nodiscard]] std::size_t words() const noexcept {
        return encoded() ? symbol_offsets.size() - 1 : pretokens.size();
    }
};

/// Merge i joins left[i] and right[i] into token alphabet.size() + i, counted counts[i] times.
struct Merges {
    std::vector<TokenId> left;
    std::vector<TokenId> right;
    std::vector<Count> counts;
};

/// By code point.
struct CharacterCounts {
    static constexpr std::size_t code_points = 0x110000;

    std::vector<Count> occurrences;
    std::vector<std::uint8_t> ends; ///< whether one ends a pretoken
};

/// Counts the characters of pretokens, valid UTF-8, that occur counts[i] times each. O(bytes).
[[nodiscard]] CharacterCounts count_characters(const Documents& pretokens,
                                               std::span<const Count> counts);

/// Lets other threads watch a training run and stop it. Thread-safe.
class TrainControl {
  public:
    struct Snapshot {
        std::size_t merges = 0;
        Count count = 0;   ///< of the last merge
        std::string token; ///< bytes made by the last merge
    };

    void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool cancelled() const noexcept {
        return cancelled_.load(std::memory_order_relaxed);
    }
    void report(std::size_t merges, Count count, std::string_view token);
    [[nodiscard]] Snapshot snapshot() const;

  private:
    std::atomic<bool> cancelled_{false};
    mutable std::mutex mutex_;
    Snapshot latest_;
};

/// Trains until options.merges are made, no pair reaches min_count, or control is cancelled (then
/// the merges made so far are returned). Throws std::invalid_argument when the input's arrays do
/// not fit each other, a byte has no token, or there are 2^32 symbols or more.
/// About O(symbols + touched occurrences); memory about 4 to 8 bytes per symbol.
[[nodiscard]] Merges train_merges(const TrainInput& input, const TrainOptions& options,
                                  TrainControl& control);

} // namespace jogak
