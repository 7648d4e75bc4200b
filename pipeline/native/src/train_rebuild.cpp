// All pairs of the text as it stands, by counting sorts: no hashing.
#include "train_text.hpp"

#include <algorithm>
#include <numeric>

namespace jogak {

namespace {

/// With so many symbols at most, the table of all pairs is small enough for the cache.
constexpr std::size_t dense_symbols = 300;

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

/// At any time: a counting sort by left symbol, then by right. Of a large text one share of the
/// left symbols after the other, since its places take more memory here than in the lists.
template <typename Symbol> void PairText<Symbol>::pair_tokens() {
    const std::vector<std::uint32_t> sizes = count_by_left();
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    const std::size_t share = std::max<std::size_t>(total / 4, tuning_.share);
    places_.resize(total);
    std::uint32_t write = 0;
    for (std::size_t first = 0; first < sizes.size();) {
        std::size_t stop = first;
        std::vector<std::uint32_t> ends;
        std::uint32_t sum = 0;
        for (; stop < sizes.size() && (stop == first || sum + sizes[stop] <= share); ++stop) {
            ends.push_back(sum);
            sum += sizes[stop];
        }
        group_by_left(static_cast<std::uint32_t>(first), ends, sum);
        std::uint32_t begin = 0;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            write = pair_up(static_cast<TokenId>(first + i),
                            {occurrences_.data() + begin, ends[i] - begin}, write);
            begin = ends[i];
        }
        first = stop;
    }
    places_.resize(write);
    occurrences_ = {};
}

/// Calls visit(place, left, right) for every place of the text but boundaries, and some of these.
template <typename Symbol>
template <typename Visit>
void PairText<Symbol>::for_each_place(Visit&& visit) const {
    const Symbol* const symbols = words_.symbols();
    const std::size_t last = std::max<std::size_t>(words_.size(), 1) - 1;
    if (one_symbol_each_) { // no place depends on the one before, and no branch tells a boundary
        for (std::size_t place = 0; place < last; ++place) {
            visit(static_cast<std::uint32_t>(place), symbols[place], symbols[place + 1]);
        }
        return;
    }
    const std::uint32_t* const units = units_.data();
    for (std::size_t place = 0; place < last;) {
        const Symbol symbol = symbols[place];
        const std::size_t next = place + (symbol == boundary ? 1 : units[symbol]);
        visit(static_cast<std::uint32_t>(place), symbol, symbols[next]);
        place = next;
    }
}

/// How many places have a right neighbour, by symbol there.
template <typename Symbol> std::vector<std::uint32_t> PairText<Symbol>::count_by_left() const {
    const auto outside = static_cast<std::uint32_t>(units_.size());
    std::vector<std::uint32_t> sizes(units_.size() + 1);
    std::uint32_t* const counts = sizes.data();
    for_each_place([&](std::uint32_t, Symbol left, Symbol right) {
        counts[std::min<std::uint32_t>(left, outside)] += right != boundary ? 1 : 0;
    });
    sizes.pop_back();
    return sizes;
}

/// Fills occurrences_ with the places that have a right neighbour, by symbol there, then by place;
/// of symbols from `first` on, whose groups begin at `next`, and then end there.
template <typename Symbol>
void PairText<Symbol>::group_by_left(std::uint32_t first, std::vector<std::uint32_t>& next,
                                     std::uint32_t size) {
    occurrences_.resize(std::size_t{size} + 1); // one more, for what is in no group
    Occurrence* const groups = occurrences_.data();
    const auto number = static_cast<std::uint32_t>(next.size());
    next.push_back(size);
    std::uint32_t* const ends = next.data();
    for_each_place([&](std::uint32_t place, Symbol left, Symbol right) {
        const std::uint32_t group = std::min<std::uint32_t>(left - first, number);
        const bool in_group = (right != boundary) & (group != number);
        const std::uint32_t at = ends[group];
        groups[in_group ? at : size] = {place, boundary, right};
        ends[group] = at + (in_group ? 1 : 0);
    });
    next.pop_back();
    occurrences_.resize(size);
}

/// Makes the pairs of one left symbol, whose lists stand from `write` on; returns where those that
/// are kept end.
template <typename Symbol>
std::uint32_t PairText<Symbol>::pair_up(TokenId left, std::span<const Occurrence> group,
                                        std::uint32_t write) {
    Neighbour* const rights = right_.data();
    for (const Occurrence& occurrence : group) {
        Neighbour& found = rights[occurrence.right];
        if (found.length == 0) {
            touched_right_.push_back(occurrence.right);
        }
        found.weight += words_.weight(occurrence.place);
        ++found.length;
    }
    for (const TokenId right : touched_right_) {
        Neighbour& found = rights[right];
        found.list = not_kept;
        if (is_kept(left, right, found.weight)) {
            found.list = write;
            write += found.length;
            add_pair(left, right, found);
        }
    }
    const Places::Writer places = places_.writer();
    for (const Occurrence& occurrence : group) {
        Neighbour& found = rights[occurrence.right];
        if (found.list != not_kept) {
            places.set(found.list++, occurrence.place);
        }
    }
    for (const TokenId right : touched_right_) {
        rights[right] = {};
    }
    touched_right_.clear();
    return write;
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
