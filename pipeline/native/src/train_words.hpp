// The distinct pretokens as one array of symbols, and the weight of every place in it. Private to
// train.
#pragma once

#include "jogak/train.hpp"
#include "train_array.hpp"

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace jogak {

class Segments;

/// Words stand by count descending, then first position, each followed by `boundary`.
/// A token that begins at place p, n symbols long, stands at p and at p + n - 1; the places between
/// hold what stood there last, and `dead` marks a beginning that a merge swallowed. So the left
/// neighbour of p is symbols[p - 1] and the right one symbols[p + n]: no links, no bounds.
/// What stands in a swallowed place is always a token newer than any that began there, so no list
/// of occurrences ever takes it for a beginning.
template <typename Symbol> class Words {
  public:
    static constexpr Symbol boundary = std::numeric_limits<Symbol>::max();
    static constexpr Symbol dead = boundary - 1;

    /// Nothing yet.
    Words() = default;

    /// `order` lists the pretokens; empty where they are in order already.
    Words(const TrainInput& input, const std::vector<std::uint32_t>& order, bool keep_positions);

    /// The text as it stands, one symbol for each token; `units` are the symbols of each so far.
    /// What is a token by itself is left out. Positions are not kept.
    template <typename Other> Words(const Words<Other>& text, const std::uint32_t* units);

    /// The same for a text of segments, of which each becomes its tokens.
    template <typename Other>
    Words(const Words<Other>& text, const std::uint32_t* units, const Segments& segments,
          const TrainOptions& options);

    /// The pretokens with one symbol for each segment; `segments` learns those it does not know.
    Words(const TrainInput& input, const std::vector<std::uint32_t>& order, Segments& segments,
          const TrainOptions& options);

    /// Where threads divide the text, between words: the first place of each part, and the last one
    /// of all, which nothing follows.
    [[nodiscard]] std::vector<std::size_t> cuts(const TrainOptions& options) const;

    [[nodiscard]] std::size_t size() const noexcept { return symbols_.size(); }
    [[nodiscard]] Symbol* symbols() noexcept { return symbols_.data(); }
    [[nodiscard]] const Symbol* symbols() const noexcept { return symbols_.data(); }

    /// The count of the word at a place.
    [[nodiscard]] Count weight(std::uint32_t place) const noexcept {
        if (place >= ends_[2]) {
            return 1;
        }
        if (place < large_.size()) {
            return large_[place];
        }
        const std::uint8_t common = common_[place / block];
        return common != 0 ? common : small_weight(place);
    }

    /// Where the words of count 1 begin.
    [[nodiscard]] std::uint32_t singles() const noexcept { return ends_[2]; }

    /// An order of places by where they were first seen in the text; needs keep_positions.
    [[nodiscard]] std::uint64_t position(std::uint32_t place) const noexcept;

  private:
    template <typename> friend class Words;

    static constexpr std::size_t block = 64;
    static constexpr Count small_counts = 32;

    template <typename Append> void read_words(std::size_t begin, std::size_t end, Append&& append);
    template <typename Other, typename Append>
    void copy_words(const Words<Other>& text, std::size_t begin, std::size_t end, Append&& append);
    template <typename Read, typename Ids>
    void read_parts(std::size_t parts, const Read& read, const Ids& ids);
    [[noreturn]] static void throw_too_many_symbols();
    void append(const Words& part, const std::vector<std::uint32_t>& ids);
    void end_word(std::size_t start, Count count, std::uint64_t first, std::size_t least = 2);
    void set_common_weights();
    [[nodiscard]] Count small_weight(std::uint32_t place) const noexcept;
    void read_alphabet(const Alphabet& alphabet);
    void append_symbols(std::string_view pretoken);
    void append_character(std::string_view character, Symbol symbol);

    RawArray<Symbol> symbols_;
    std::array<std::uint32_t, small_counts + 1> ends_{}; // [c]: the end of words of count >= c
    RawArray<Count> large_;            // by place, for counts of at least small_counts
    std::vector<std::uint8_t> common_; // by block of places: their count, 0 where it differs
    bool keep_positions_ = false;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint64_t> first_;
    // The alphabet, by byte and by code point.
    std::array<Symbol, 256> bytes_;
    std::vector<Symbol> characters_;
    std::vector<Symbol> last_characters_; // of a word; the same as characters_ without a suffix
};

} // namespace jogak
