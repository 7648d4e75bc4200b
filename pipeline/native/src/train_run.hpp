// A training run on a text whose symbols are tokens. Private to train; instantiated for 16- and
// 32-bit symbols.
#pragma once

#include "train_order.hpp"
#include "train_text.hpp"

#include <algorithm>
#include <vector>

namespace jogak {

/// How many tokens symbols of 16 bits can name: two are no tokens, the boundary of words and the
/// swallowed beginning.
[[nodiscard]] inline std::size_t narrow_tokens(const TrainTuning& tuning) noexcept {
    return std::min<std::size_t>(tuning.narrow_tokens, Words<std::uint16_t>::dead - 1);
}

template <typename Symbol> class Run {
  public:
    Run(Training& training, Words<Symbol> words);

    /// Merges until the options or the control say stop.
    void merge_all();

    /// Merges until rarer pairs are wanted than are stored, or symbols have no id left.
    void merge_stored();

    /// The text, when all merges of this run are made; the pairs are forgotten.
    [[nodiscard]] const PairText<Symbol>& text() {
        text_.forget_pairs();
        return text_;
    }

  private:
    void find_pairs(Count least);
    void enqueue(PairIndex pair, Count count);
    [[nodiscard]] Candidate candidate(PairIndex pair, Count count) const;
    [[nodiscard]] bool precedes(const Candidate& left, const Candidate& right) const;
    void merge_level(Count count);
    void try_merge(const Candidate& next);
    void merge(PairIndex pair);
    [[nodiscard]] bool done() const;
    [[nodiscard]] bool merge_next();

    Training& training_;
    const TrainOptions& options_;
    TieOrder order_;
    PairText<Symbol> text_;
    Buckets buckets_;
    std::vector<Candidate> heap_; // counts from the buckets' limit on
    std::vector<Candidate> level_;
    std::vector<Candidate> born_; // pairs of the current level's count, made while it is merged
    std::vector<PairIndex> taken_;
    Count level_count_ = 0;
    Count least_ = 1; // rarer pairs are not stored
};

extern template class Run<std::uint16_t>;
extern template class Run<std::uint32_t>;

} // namespace jogak
