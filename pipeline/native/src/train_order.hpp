// What a training run works on beside its text, and which of two equally frequent pairs goes first.
// Private to train.
#pragma once

#include "jogak/train.hpp"
#include "train_tokens.hpp"

namespace jogak {

/// Shared by the runs that follow each other, each of which goes on where the last one stopped.
struct Training {
    const TrainOptions& options;
    TrainControl& control;
    Tokens tokens;
    Merges merges;

    Training(const Alphabet& alphabet, const TrainOptions& given, TrainControl& watch)
        : options(given), control(watch), tokens(alphabet, given) {}

    /// Makes the next token; returns its id.
    TokenId join(TokenId left, TokenId right, Count count) {
        merges.left.push_back(left);
        merges.right.push_back(right);
        merges.counts.push_back(count);
        const TokenId token = tokens.join(left, right);
        control.report(merges.counts.size(), count, tokens.bytes(token));
        return token;
    }

    [[nodiscard]] bool done() const {
        return merges.counts.size() >= options.merges || control.cancelled();
    }
};

/// The order of pairs of one count, except for first_seen, which depends on the text.
class TieOrder {
  public:
    explicit TieOrder(const Training& training)
        : ties_(training.options.ties), tokens_(training.tokens) {}

    /// Orders pairs as far as it goes.
    [[nodiscard]] std::uint64_t key(TokenId left, TokenId right) const noexcept {
        switch (ties_) {
        case Ties::lexicographic:
            return tokens_.prefix(left);
        case Ties::largest:
            return ~tokens_.prefix(left);
        case Ties::smallest_ids:
        case Ties::first_seen:
            break;
        }
        return std::uint64_t{left} << 32U | right;
    }

    /// Decides where the keys do not. A `Pair` has a `left` and a `right`.
    template <typename Pair>
    [[nodiscard]] bool goes_first(const Pair& one, const Pair& other) const noexcept {
        if (ties_ == Ties::lexicographic || ties_ == Ties::largest) {
            int order = tokens_.bytes(one.left).compare(tokens_.bytes(other.left));
            if (order == 0) {
                order = tokens_.bytes(one.right).compare(tokens_.bytes(other.right));
            }
            if (order != 0) {
                return ties_ == Ties::largest ? order > 0 : order < 0;
            }
        }
        return one.left != other.left ? one.left < other.left : one.right < other.right;
    }

  private:
    Ties ties_;
    const Tokens& tokens_;
};

} // namespace jogak
