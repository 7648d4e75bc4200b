// The first merges of a run, on a text of segments. Private to train.
#pragma once

#include "train_order.hpp"
#include "train_segments.hpp"
#include "train_text.hpp"

#include <optional>
#include <vector>

namespace jogak {

/// The first merges of a text of long characters make these characters: each merge touches
/// thousands of places that are all alike. Here a symbol of the text is a segment, and a merge
/// within segments is made once for each kind of them. Where a pair spans two segments, these first
/// become one, which changes no count.
class SegmentRun {
  public:
    /// Nothing where segments are of no use: the text has short characters, too many different
    /// ones, or its symbols are no bytes.
    [[nodiscard]] static std::optional<SegmentRun>
    begin(Training& training, const TrainInput& input, const std::vector<std::uint32_t>& order);

    /// Merges until the pairs that remain are better served one place at a time.
    void merge_first();

    /// The text with one symbol for each token.
    template <typename Symbol> [[nodiscard]] Words<Symbol> words() {
        text_.forget_pairs();
        return Words<Symbol>(text_.words(), text_.units(), segments_, training_.options);
    }

  private:
    using Id = std::uint32_t;

    /// Two adjacent tokens, and a chain of the segments that hold them.
    struct TokenPair {
        TokenId left;
        TokenId right;
        Count count;
        std::uint32_t segments;
    };
    struct Link {
        Id segment;
        std::uint32_t next;
    };
    /// The pairs of segments (of the text) that a segment ends and begins.
    struct Junctions {
        std::vector<PairIndex> before;
        std::vector<PairIndex> after;
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    SegmentRun(Training& training, Segments segments, Words<std::uint16_t> words);

    void find_pairs();
    void add_segment(Id segment);
    void connect(PairIndex junction);
    void add_pair(TokenId left, TokenId right, Count count);
    void link(TokenId left, TokenId right, Id segment);
    [[nodiscard]] bool precedes(const Candidate& left, const Candidate& right) const;
    void enqueue(PairIndex pair);
    [[nodiscard]] Count recount(const TokenPair& pair);
    [[nodiscard]] bool merge(PairIndex index);
    [[nodiscard]] bool join_segments(TokenId left, TokenId right);
    void gather_junctions(TokenId left, TokenId right);
    void join_segment(PairIndex junction, TokenId left, TokenId right);
    void rewrite(Id segment, const TokenPair& pair, TokenId made);
    void note_neighbours(Id segment, TokenId made);
    void make_pairs(const TokenPair& merged, TokenId made);

    Training& training_;
    TieOrder order_;
    Segments segments_;
    PairText<std::uint16_t> text_; // its symbols are segments, its pairs adjacent ones
    // By segment:
    std::vector<TokenId> first_;
    std::vector<TokenId> last_;
    std::vector<Junctions> junctions_;
    // Of tokens:
    std::vector<TokenPair> pairs_;
    std::vector<Link> links_;
    PairFinder index_;                       // of pairs_
    std::vector<std::vector<Id>> beginning_; // by token: the segments that begin with it
    std::vector<std::vector<Id>> ending_;
    std::vector<Candidate> heap_;
    Count least_ = 1;
    std::size_t joins_ = 0;
    // Of the merge under way:
    std::vector<PairIndex> joined_; // pairs of segments that become one segment
    std::vector<Id> changed_;
    std::vector<Count> left_; // by token: what stands beside the new one
    std::vector<Count> right_;
    std::vector<TokenId> touched_left_;
    std::vector<TokenId> touched_right_;
};

} // namespace jogak
