// All pairs of the text as it stands, by counting sorts: no hashing.
#include "parallel.hpp"
#include "train_text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

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

/// At any time: a counting sort by left symbol, then by right; one share of the left symbols after
/// the other, or beside it.
template <typename Symbol> void PairText<Symbol>::pair_tokens() {
    const std::vector<std::uint32_t> sizes = count_by_left();
    std::vector<Share> shares = divide(sizes);
    places_.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    in_parallel(static_cast<unsigned>(threads_), shares.size(),
                [&](unsigned, std::size_t i) { sort_share(shares[i]); });
    std::size_t pairs = 0;
    for (const Share& share : shares) {
        pairs += share.pairs.size();
    }
    pairs_.reserve(pairs);
    exact_.reserve(exact_length_ == 0 ? pairs : 0);
    std::uint32_t write = 0;
    for (Share& share : shares) {
        places_.move(share.lists, share.lists_end, write);
        for (std::size_t i = 0; i < share.pairs.size(); ++i) {
            Pair pair = share.pairs[i];
            pair.list -= share.lists - write;
            add_pair(pair);
        }
        write += share.lists_end - share.lists;
        share = {};
    }
    places_.resize(write);
}

/// Divides the left symbols: sorting takes more memory than the lists, so not all places of a large
/// text are sorted at once, and each thread is to have some.
template <typename Symbol>
auto PairText<Symbol>::divide(const std::vector<std::uint32_t>& sizes) const -> std::vector<Share> {
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    const std::size_t at_once = std::max<std::size_t>({total / 4, tuning_.share, 1});
    const std::size_t most = total / std::max((total + at_once - 1) / at_once, threads_) + 1;
    std::vector<Share> shares;
    std::uint32_t lists = 0;
    for (std::uint32_t left = 0; left < sizes.size(); ++left) {
        if (shares.empty() || shares.back().size + sizes[left] > most) {
            shares.push_back({left, {}, 0, lists, lists, {}});
        }
        Share& share = shares.back();
        share.next.push_back(share.size);
        share.size += sizes[left];
        lists += sizes[left];
    }
    return shares;
}

template <typename Symbol> void PairText<Symbol>::sort_share(Share& share) {
    RawArray<Occurrence> places = group_by_left(share);
    Beside rights(units_.size());
    std::uint32_t begin = 0;
    std::uint32_t discarded = 0; // before the lists take memory in their place
    for (std::size_t i = 0; i < share.next.size(); ++i) {
        const std::uint32_t end = share.next[i];
        pair_up(static_cast<TokenId>(share.first + i), {places.data() + begin, end - begin}, rights,
                share);
        begin = end;
        if (const std::uint32_t done = begin / discarded_at_once * discarded_at_once;
            done > discarded) {
            places.discard(std::exchange(discarded, done), done);
        }
    }
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

/// Returns the places of a share that have a right neighbour, by symbol there, then by place; moves
/// share.next on to the ends of the groups.
template <typename Symbol>
auto PairText<Symbol>::group_by_left(Share& share) const -> RawArray<Occurrence> {
    struct Group {
        std::uint32_t next;
        std::uint32_t in_share; // 0 or 1
    };
    RawArray<Occurrence> grouped;
    const std::uint32_t outside = share.size; // one more, for what is in no group
    grouped.resize(std::size_t{outside} + 1);
    Occurrence* const places = grouped.data();
    const auto ids = static_cast<std::uint32_t>(units_.size());
    std::vector<Group> groups(std::size_t{ids} + 1, {outside, 0});
    for (std::size_t i = 0; i < share.next.size(); ++i) {
        groups[share.first + i] = {share.next[i], 1};
    }
    Group* const by_id = groups.data();
    for_each_place([=](std::uint32_t place, Symbol left, Symbol right) {
        // A number, since no branch foresees whose share it is.
        Group& group = by_id[std::min<std::uint32_t>(left, ids)];
        const std::uint32_t found = group.in_share & static_cast<std::uint32_t>(right != boundary);
        places[outside - (outside - group.next) * found] = {place, boundary, right};
        group.next += found;
    });
    for (std::size_t i = 0; i < share.next.size(); ++i) {
        share.next[i] = groups[share.first + i].next;
    }
    grouped.resize(outside);
    return grouped;
}

/// Makes the pairs of one left symbol and their lists.
template <typename Symbol>
void PairText<Symbol>::pair_up(TokenId left, std::span<const Occurrence> group, Beside& beside,
                               Share& share) {
    Neighbour* const rights = beside.found.data();
    for (const Occurrence& occurrence : group) {
        Neighbour& found = rights[occurrence.right];
        if (found.length == 0) {
            beside.touched.push_back(occurrence.right);
        }
        found.weight += words_.weight(occurrence.place);
        ++found.length;
    }
    for (const TokenId right : beside.touched) {
        Neighbour& found = rights[right];
        found.list = not_kept;
        if (is_kept(left, right, found.weight)) {
            found.list = share.lists_end;
            share.lists_end += found.length;
            share.pairs.push_back({left, right, found.list, found.length, found.weight});
        }
    }
    const Places::Writer places = places_.writer();
    for (const Occurrence& occurrence : group) {
        Neighbour& found = rights[occurrence.right];
        if (found.list != not_kept) {
            places.set(found.list++, occurrence.place);
        }
    }
    beside.clear();
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
