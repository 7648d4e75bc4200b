// The text of a training run with all its pairs, and the merge of one of them. Private to train;
// instantiated for 16- and 32-bit symbols.
#pragma once

#include "jogak/train.hpp"
#include "train_array.hpp"
#include "train_pairs.hpp"
#include "train_places.hpp"
#include "train_tokens.hpp"
#include "train_words.hpp"

#include <limits>
#include <span>
#include <vector>

namespace jogak {

/// Pairs are indices that stay what they are until all of them are found anew.
template <typename Symbol> class PairText {
  public:
    /// `ids` is how many ids symbols have so far, `rules` says which may join (null: all), and
    /// pairs of `exact_length` occurrences have an exact count.
    PairText(Words<Symbol> words, std::size_t ids, const Tokens* rules, const TrainOptions& options,
             std::uint32_t exact_length);

    /// Forgets all pairs and finds those of at least `least` anew; rarer ones are not stored.
    void find_pairs(Count least);

    void forget_pairs();

    /// Writes the text anew with one symbol for each token, which is a fraction of it by then; all
    /// pairs are forgotten. Positions in the text are lost.
    void compact();

    /// Merges a pair into the next id. Returns its first new pair: they are the last ones, and no
    /// other pair of that id will come into being.
    PairIndex merge(PairIndex pair);

    /// What the occurrences that were merged last count together.
    [[nodiscard]] Count merged_weight() const noexcept { return merged_weight_; }

    [[nodiscard]] std::size_t pairs() const noexcept { return pairs_.size(); }
    [[nodiscard]] const Pair& pair(PairIndex index) const noexcept { return pairs_[index]; }
    [[nodiscard]] const Words<Symbol>& words() const noexcept { return words_; }
    [[nodiscard]] const std::uint32_t* units() const noexcept { return units_.data(); }

    /// Whether a pair's count is kept exact. Its list then keeps its length until it is merged;
    /// other lists only become shorter.
    [[nodiscard]] bool is_exact(const Pair& pair) const noexcept {
        return pair.length >= exact_length_;
    }

    /// Drops what is no longer an occurrence from the list, and adds up the rest.
    Count recount(PairIndex index);

    /// The count as it stands.
    Count current_count(PairIndex index) {
        return is_exact(pairs_[index]) ? pairs_[index].count : recount(index);
    }

    /// Asks memory for the beginning of a pair's list; later, when that has come, for the text
    /// where these occurrences are.
    void prefetch_list(PairIndex index) const noexcept { places_.prefetch(pairs_[index].list); }
    void prefetch_text(PairIndex index) const noexcept;

    /// The earliest occurrence in the text; needs words that keep positions.
    [[nodiscard]] std::uint64_t first_position(const Pair& pair) const;

  private:
    static constexpr Symbol boundary = Words<Symbol>::boundary;

    /// What a merge finds beside its occurrences, by the neighbouring symbol.
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

    /// All symbols that were found on one side.
    struct Beside {
        std::vector<Neighbour> found; // by id
        std::vector<TokenId> touched; // those that were found

        explicit Beside(std::size_t ids) : found(ids) {}
        void clear() {
            for (const TokenId id : touched) {
                found[id] = {};
            }
            touched.clear();
        }
    };

    /// Consecutive left symbols, whose pairs are found apart from those of others.
    struct Piece {
        std::uint32_t first;
        std::uint32_t last;  // behind them
        std::uint32_t begin; // of their places, where these are sorted
        std::uint32_t size;  // places
        std::uint32_t lists; // where their lists begin
        std::uint32_t lists_end;
        RawArray<Pair> pairs;
    };

    /// Where the next place of a left symbol goes, if it is `wanted` (1, or 0).
    struct Group {
        std::uint32_t next;
        std::uint32_t wanted;
    };

    [[nodiscard]] bool is_kept(TokenId left, TokenId right, Count weight) const noexcept {
        return weight >= least_ && (rules_ == nullptr || rules_->may_join(left, right));
    }
    void add_pair(const Pair& pair);

    /// 1 where a pair stands at a place of its list, `step` being the symbols of its left part. A
    /// number: whether it does is as good as random, so that a branch would be wrong half the time.
    [[nodiscard]] static std::uint32_t is_live(const Symbol* symbols, std::uint32_t place,
                                               std::uint32_t step, Symbol left,
                                               Symbol right) noexcept {
        return static_cast<std::uint32_t>(symbols[place] == left) &
               static_cast<std::uint32_t>(symbols[place + step] == right);
    }

    // Pairs from the text as it stands (train_rebuild.cpp, train_sort.cpp).
    void pair_symbols();
    void pair_tokens();
    [[nodiscard]] static std::vector<Piece> divide(const std::vector<std::uint32_t>& sizes,
                                                   std::size_t most);
    void sort_pieces(std::span<Piece> pieces, const std::vector<std::size_t>& cuts,
                     const std::vector<std::vector<std::uint32_t>>& counts,
                     const std::vector<std::uint32_t>& sizes);
    void sort_piece(Piece& piece, RawArray<Occurrence>& places,
                    const std::vector<std::uint32_t>& sizes);
    void collect(std::span<Piece> pieces);
    template <typename Visit>
    void for_each_place(std::size_t begin, std::size_t end, Visit&& visit) const;
    [[nodiscard]] std::vector<std::uint32_t> count_by_left(std::size_t begin,
                                                           std::size_t end) const;
    void group_by_left(std::size_t begin, std::size_t end, Group* groups, Occurrence* places) const;
    void pair_up(TokenId left, std::span<const Occurrence> group, Beside& beside, Piece& piece);
    template <typename Work> void parallel(std::size_t items, const Work& work) const;

    // One merge (train_merge.cpp).
    void rewrite(const Pair& pair, TokenId token, std::uint32_t begin, std::uint32_t end);
    void note_neighbours(TokenId token, std::size_t begin, std::size_t end);
    void deal_out();
    void lower(TokenId left, TokenId right, Count weight);
    void make_lists(const Pair& merged, TokenId token);
    [[nodiscard]] std::uint32_t allot(std::uint32_t length);

    const Tokens* rules_;
    const TrainOptions& options_;
    std::uint32_t exact_length_;
    Count least_ = 1;
    Words<Symbol> words_;
    std::vector<std::uint32_t> units_; // by id: the symbols that stand for it in the text
    bool one_symbol_each_ = true;
    RawArray<Pair> pairs_;
    Places places_; // all lists of occurrences
    PairFinder exact_;
    // Of the merge under way:
    RawArray<Occurrence> occurrences_;
    Beside left_;
    Beside right_;
    std::uint32_t hole_ = 0; // the consumed list, free for new ones
    std::uint32_t hole_end_ = 0;
    Count merged_weight_ = 0;
};

extern template class PairText<std::uint16_t>;
extern template class PairText<std::uint32_t>;

} // namespace jogak
