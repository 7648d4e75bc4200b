// All pairs of the text as it stands, by counting sorts: no hashing.
#include "train_text.hpp"

#include <algorithm>
#include <utility>

namespace jogak {

namespace {

/// With so many symbols at most, the table of all pairs is small enough for the cache.
constexpr std::size_t dense_symbols = 300;
/// How many occurrences ahead the text is asked for.
constexpr std::uint32_t ahead = 32;

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
    places_.clear(words_.size() > std::min(tuning_.short_text, most));
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
                add_pair(left, right, found[i]);
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

/// At any time: a counting sort by left symbol, then by right.
template <typename Symbol> void PairText<Symbol>::pair_tokens() {
    // A boundary is one of the symbols: no branch tells it.
    std::vector<std::uint32_t> ends(units_.size() + 1);
    group_by_left(ends);
    ends.pop_back();
    std::uint32_t begin = 0;
    std::uint32_t write = 0;
    for (TokenId left = 0; left < ends.size(); ++left) {
        write = pair_up(left, begin, ends[left], write);
        begin = ends[left];
    }
    places_.resize(write);
}

/// Fills places_ with every place that has a right neighbour, by symbol there, then by place.
template <typename Symbol> void PairText<Symbol>::group_by_left(std::vector<std::uint32_t>& ends) {
    const Symbol* const symbols = words_.symbols();
    const std::uint32_t* const units = units_.data();
    const std::size_t last = std::max<std::size_t>(words_.size(), 1) - 1;
    const auto for_each = [&](auto&& visit) {
        if (one_symbol_each_) { // no place depends on the one before
            for (std::size_t place = 0; place < last; ++place) {
                visit(place, symbols[place + 1]);
            }
            return;
        }
        for (std::size_t place = 0; place < last;) {
            const Symbol symbol = symbols[place];
            const std::size_t next = place + (symbol == boundary ? 1 : units[symbol]);
            visit(place, symbols[next]);
            place = next;
        }
    };
    const auto outside = static_cast<std::uint32_t>(units_.size());
    const auto id_at = [&](std::size_t place) {
        return std::min(static_cast<std::uint32_t>(symbols[place]), outside);
    };
    for_each(
        [&](std::size_t place, Symbol right) { ends[id_at(place)] += right != boundary ? 1 : 0; });
    ends[outside] = 0;
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends) {
        sum += std::exchange(end, sum);
    }
    places_.resize(std::size_t{sum} + 1); // one more, for what is in no group
    Places::Writer places = places_.writer();
    std::uint32_t* const next = ends.data();
    for_each([&](std::size_t place, Symbol right) {
        const std::uint32_t id = id_at(place);
        const bool in_group = right != boundary && id != outside;
        const std::uint32_t at = next[id];
        places.set(in_group ? at : sum, static_cast<std::uint32_t>(place));
        next[id] = at + (in_group ? 1 : 0);
    });
}

/// Divides the places of one left token by right token, in place from `write` on; returns where
/// the lists that are kept end.
template <typename Symbol>
std::uint32_t PairText<Symbol>::pair_up(TokenId left, std::uint32_t begin, std::uint32_t end,
                                        std::uint32_t write) {
    const Symbol* symbols = words_.symbols();
    const std::uint32_t step = units_[left];
    const auto groups_end = static_cast<std::uint32_t>(places_.size() - 1);
    occurrences_.resize(end - begin);
    for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint32_t place = places_[i];
        // What is ahead may be another group's already; its text is wanted as well.
        __builtin_prefetch(&symbols[places_[std::min(i + ahead, groups_end)] + step]);
        const Symbol right = symbols[place + step];
        Neighbour& found = right_[right];
        if (found.length == 0) {
            touched_right_.push_back(right);
        }
        found.weight += words_.weight(place);
        ++found.length;
        occurrences_[i - begin] = {place, 0, right};
    }
    for (const TokenId right : touched_right_) {
        Neighbour& found = right_[right];
        found.list = not_kept;
        if (is_kept(left, right, found.weight)) {
            found.list = write;
            write += found.length;
            add_pair(left, right, found);
        }
    }
    for (std::size_t i = 0; i < occurrences_.size(); ++i) {
        Neighbour& found = right_[occurrences_[i].right];
        if (found.list != not_kept) {
            places_.set(found.list++, occurrences_[i].place);
        }
    }
    for (const TokenId right : touched_right_) {
        right_[right] = {};
    }
    touched_right_.clear();
    return write;
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
