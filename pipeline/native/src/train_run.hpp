// One training run. Private to train; instantiated for 16- and 32-bit symbols.
#pragma once

#include "jogak/train.hpp"
#include "train_array.hpp"
#include "train_pairs.hpp"
#include "train_places.hpp"
#include "train_tokens.hpp"
#include "train_words.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace jogak {

/// How many tokens symbols of 16 bits can name: two are no tokens, the boundary of words and the
/// swallowed beginning.
[[nodiscard]] inline std::size_t narrow_tokens(const TrainTuning& tuning) noexcept {
    return std::min<std::size_t>(tuning.narrow_tokens, Words<std::uint16_t>::dead - 1);
}

template <typename Symbol> class Run {
  public:
    Run(const TrainInput& input, const std::vector<std::uint32_t>& order,
        const TrainOptions& options, TrainControl& control);

    /// Goes on where a run of narrower symbols stopped, of which only the text is left then.
    template <typename Other> explicit Run(Run<Other>& earlier);

    /// Merges until the options or the control say stop.
    [[nodiscard]] Merges merge_all();

    /// Merges until rarer pairs are wanted than are stored, or symbols have no id left.
    void merge_stored();

  private:
    template <typename> friend class Run;

    static constexpr Symbol boundary = Words<Symbol>::boundary;

    /// What a merge finds beside its occurrences, by the neighbouring token.
    struct Neighbour {
        Count weight;
        std::uint32_t list;
        std::uint32_t length;
    };
    struct Occurrence {
        std::uint32_t place;
        Symbol left;
        Symbol right;
    };
    static constexpr std::uint32_t not_kept = ~std::uint32_t{0};

    // Pairs from the text as it stands (train_rebuild.cpp).
    void rebuild(Count least);
    void forget_pairs();
    void compact();
    void pair_symbols();
    void pair_tokens();
    void group_by_left(std::vector<std::uint32_t>& ends);
    std::uint32_t pair_up(TokenId left, std::uint32_t begin, std::uint32_t end,
                          std::uint32_t write);

    // The queue (train_run.cpp).
    void add_pair(TokenId left, TokenId right, const Neighbour& found);
    void enqueue(PairIndex pair, Count count);
    [[nodiscard]] Candidate candidate(PairIndex pair, Count count) const;
    [[nodiscard]] bool precedes(const Candidate& left, const Candidate& right) const;
    [[nodiscard]] bool goes_first(PairIndex left, PairIndex right) const;
    [[nodiscard]] std::uint64_t first_position(const Pair& pair) const;
    void merge_level(Count count);
    bool try_merge(const Candidate& next);
    [[nodiscard]] Count recount(Pair& pair);
    [[nodiscard]] Count current_count(PairIndex pair);
    [[nodiscard]] bool done() const;
    [[nodiscard]] bool merge_next();

    /// Whether a pair's count is kept exact. Its list then keeps its length until it is merged;
    /// other lists only become shorter.
    [[nodiscard]] bool is_exact(const Pair& pair) const noexcept {
        return pair.length >= options_.tuning.exact_length;
    }

    // One merge (train_merge.cpp).
    void merge(PairIndex pair);
    void rewrite(const Pair& pair, TokenId token, std::uint32_t begin, std::uint32_t end);
    void note_neighbours(TokenId token, std::size_t begin, std::size_t end);
    void deal_out();
    void lower(TokenId left, TokenId right, Count weight);
    void make_lists(const Pair& merged, TokenId token);
    [[nodiscard]] std::uint32_t allot(std::uint32_t length);

    const TrainOptions& options_;
    TrainControl& control_;
    Tokens tokens_;
    Words<Symbol> words_;
    RawArray<Pair> pairs_;
    Places places_; // all lists of occurrences
    ExactPairs exact_;
    Buckets buckets_;
    std::vector<Candidate> heap_; // counts from the buckets' limit on
    std::vector<Candidate> level_;
    std::vector<Candidate> born_; // pairs of the current level's count, made while it is merged
    std::vector<PairIndex> taken_;
    Count level_count_ = 0;
    Count least_; // rarer pairs are not stored
    Merges merges_;
    // Of the merge under way:
    RawArray<Occurrence> occurrences_;
    std::vector<Neighbour> left_;
    std::vector<Neighbour> right_;
    std::vector<TokenId> touched_left_;
    std::vector<TokenId> touched_right_;
    std::uint32_t hole_ = 0; // the consumed list, free for new ones
    std::uint32_t hole_end_ = 0;
};

extern template class Run<std::uint16_t>;
extern template class Run<std::uint32_t>;

} // namespace jogak
