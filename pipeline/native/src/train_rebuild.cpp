// All pairs of the text as it stands, by counting: no hashing.
#include "train_text.hpp"

#include <algorithm>

namespace jogak {

namespace {

/// With so many symbols at most, the table of all pairs is small enough for the cache.
constexpr std::size_t dense_symbols = 300;
/// Places whose memory is given back together: a call of the system each time, on a whole large
/// page.
constexpr std::uint32_t discarded_at_once = 1U << 18U;

} // namespace

template <typename Symbol> void PairText<Symbol>::find_pairs(Count least) {
    least_ = least;
    forget_pairs();
    if (one_symbol_each_ && units_.size() <= dense_symbols) {
        pair_symbols();
    } else {
        pair_tokens();
    }
}

template <typename Symbol> void PairText<Symbol>::forget_pairs() {
    pairs_.clear();
    constexpr std::uint32_t most = (1U << 24U) - 1;
    places_.clear(words_.size() > std::min(options_.tuning.short_text, most));
    exact_.clear();
}

template <typename Symbol> void PairText<Symbol>::compact() {
    forget_pairs();
    words_ = Words<Symbol>(words_, units_.data());
    std::fill(units_.begin(), units_.end(), 1U);
    one_symbol_each_ = true;
}

/// Where every id is one symbol, a square table holds all pairs.
template <typename Symbol> void PairText<Symbol>::pair_symbols() {
    const std::size_t tokens = units_.size();
    const std::size_t side = tokens + 1; // a boundary is one of the symbols: no branch tells it
    const auto for_each = [&](std::size_t begin, std::size_t end, auto&& visit) {
        if (begin == end) {
            return; // there may be no symbol at all there
        }
        const Symbol* symbols = words_.symbols();
        std::size_t left = std::min<std::size_t>(symbols[begin], tokens);
        for (std::size_t place = begin; place < end; ++place) {
            const std::size_t right = std::min<std::size_t>(symbols[place + 1], tokens);
            visit(static_cast<std::uint32_t>(place), left * side + right);
            left = right;
        }
    };
    // Without a word there is but one boundary, and no place between two.
    const std::size_t last = std::max<std::size_t>(words_.size(), 2) - 1;
    const std::size_t singles = std::clamp<std::size_t>(words_.singles(), 1, last);
    std::vector<Neighbour> found(side * side);
    for_each(1, singles, [&](std::uint32_t place, std::size_t pair) {
        found[pair].weight += words_.weight(place);
        ++found[pair].length;
    });
    // Most of the text has weight 1, and small numbers stay in the cache.
    std::vector<std::uint32_t> next(side * side);
    for_each(singles, last, [&](std::uint32_t, std::size_t pair) { ++next[pair]; });
    std::uint32_t write = 0;
    for (TokenId left = 0; left < tokens; ++left) {
        for (TokenId right = 0; right < tokens; ++right) {
            const std::size_t i = left * side + right;
            found[i].weight += next[i];
            found[i].length += next[i];
            next[i] = not_kept;
            if (found[i].length != 0 && is_kept(left, right, found[i].weight)) {
                found[i].list = next[i] = write;
                write += found[i].length;
                add_pair({left, right, write - found[i].length, found[i].length, found[i].weight});
            }
        }
    }
    // Places of pairs that are not kept are written behind all others, one over the other.
    for (std::size_t i = 0; i < next.size(); ++i) {
        const bool is_kept = i / side < tokens && i % side < tokens && next[i] != not_kept;
        next[i] = is_kept ? next[i] : write;
    }
    places_.resize(std::size_t{write} + 1);
    for_each(1, last, [&](std::uint32_t place, std::size_t pair) {
        const std::uint32_t at = next[pair];
        places_.set(at, place);
        next[pair] = at + (at != write ? 1 : 0);
    });
    places_.resize(write);
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
