// All pairs of the text as it stands, by a counting sort on several threads.
#include "parallel.hpp"
#include "train_text.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace jogak {

namespace {

/// Places whose memory is given back together: a call of the system each time, on whole large
/// pages.
constexpr std::uint32_t discarded_at_once = 1U << 18U;

/// What threads write at the same time lies so many items apart, so that they do not wait for each
/// other's processors.
constexpr std::size_t apart = 16;

} // namespace

/// By left symbol, then by right. Sorting takes more memory than the lists do, so not all places of
/// a large text are sorted at once, but those of some left symbols after those of others.
template <typename Symbol> void PairText<Symbol>::pair_tokens() {
    const std::vector<std::size_t> cuts = words_.cuts(options_);
    std::vector<std::vector<std::uint32_t>> counts(cuts.size() - 1);
    parallel(counts.size(),
             [&](std::size_t i) { counts[i] = count_by_left(cuts[i], cuts[i + 1]); });
    std::vector<std::uint32_t> sizes = counts[0];
    for (std::size_t i = 1; i < counts.size(); ++i) {
        std::transform(sizes.begin(), sizes.end(), counts[i].begin(), sizes.begin(), std::plus<>());
    }
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    const std::size_t at_once = std::max<std::size_t>(total / 4, options_.tuning.share);
    const bool alone = counts.size() == 1;
    std::vector<Piece> pieces =
        divide(sizes, alone ? at_once : std::min(at_once, total) / (2 * counts.size()));
    places_.resize(total);
    for (std::size_t i = 0; i < pieces.size();) {
        std::size_t stop = i;
        std::size_t size = 0;
        for (; stop < pieces.size() && (stop == i || size + pieces[stop].size <= at_once); ++stop) {
            pieces[stop].begin = static_cast<std::uint32_t>(size);
            size += pieces[stop].size;
        }
        sort_pieces(std::span(pieces).subspan(i, stop - i), cuts, counts, sizes);
        i = stop;
    }
    collect(pieces);
}

/// Divides the left symbols, so that each piece has at most so many places, or is a symbol alone.
template <typename Symbol>
auto PairText<Symbol>::divide(const std::vector<std::uint32_t>& sizes, std::size_t most)
    -> std::vector<Piece> {
    std::vector<Piece> pieces;
    std::uint32_t lists = 0;
    for (std::uint32_t left = 0; left < sizes.size(); ++left) {
        if (pieces.empty() || pieces.back().size + sizes[left] > most) {
            pieces.push_back({left, left, 0, 0, lists, lists, {}});
        }
        pieces.back().last = left + 1;
        pieces.back().size += sizes[left];
        lists += sizes[left];
    }
    return pieces;
}

/// Makes the pairs of consecutive pieces.
template <typename Symbol>
void PairText<Symbol>::sort_pieces(std::span<Piece> pieces, const std::vector<std::size_t>& cuts,
                                   const std::vector<std::vector<std::uint32_t>>& counts,
                                   const std::vector<std::uint32_t>& sizes) {
    const std::size_t parts = counts.size();
    const std::uint32_t size = pieces.back().begin + pieces.back().size;
    RawArray<Occurrence> places;
    places.resize(size + parts * apart); // more, for what is in no group
    std::vector<std::vector<Group>> groups;
    for (std::size_t i = 0; i < parts; ++i) {
        groups.emplace_back(units_.size() + 1,
                            Group{size + static_cast<std::uint32_t>(i * apart), 0});
    }
    std::uint32_t next = 0;
    for (std::uint32_t left = pieces.front().first; left < pieces.back().last; ++left) {
        for (std::size_t i = 0; i < parts; ++i) {
            groups[i][left] = {next, 1};
            next += counts[i][left];
        }
    }
    parallel(parts, [&](std::size_t i) {
        group_by_left(cuts[i], cuts[i + 1], groups[i].data(), places.data());
    });
    parallel(pieces.size(), [&](std::size_t i) { sort_piece(pieces[i], places, sizes); });
}

template <typename Symbol>
void PairText<Symbol>::sort_piece(Piece& piece, RawArray<Occurrence>& places,
                                  const std::vector<std::uint32_t>& sizes) {
    const auto whole = [](std::uint32_t place) {
        return place / discarded_at_once * discarded_at_once;
    };
    Beside rights(units_.size());
    std::uint32_t begin = piece.begin;
    std::uint32_t discarded = whole(begin + discarded_at_once - 1);
    for (std::uint32_t left = piece.first; left < piece.last; ++left) {
        pair_up(left, {places.data() + begin, sizes[left]}, rights, piece);
        begin += sizes[left];
        if (whole(begin) > discarded) { // before the lists take memory in their place
            places.discard(std::exchange(discarded, whole(begin)), whole(begin));
        }
    }
}

/// Takes the pairs from the pieces, and closes the gaps between their lists.
template <typename Symbol> void PairText<Symbol>::collect(std::span<Piece> pieces) {
    std::size_t pairs = 0;
    for (const Piece& piece : pieces) {
        pairs += piece.pairs.size();
    }
    pairs_.reserve(pairs);
    exact_.reserve(exact_length_ == 0 ? pairs : 0);
    std::uint32_t write = 0;
    for (Piece& piece : pieces) {
        places_.move(piece.lists, piece.lists_end, write);
        for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
            Pair pair = piece.pairs[i];
            pair.list -= piece.lists - write;
            add_pair(pair);
        }
        write += piece.lists_end - piece.lists;
        piece = {};
    }
    places_.resize(write);
}

/// Calls visit(place, left, right) for every place of [begin, end) but boundaries, and some of
/// these. Both ends are boundaries, or the ends of the text.
template <typename Symbol>
template <typename Visit>
void PairText<Symbol>::for_each_place(std::size_t begin, std::size_t end, Visit&& visit) const {
    const Symbol* const symbols = words_.symbols();
    if (one_symbol_each_) { // no place depends on the one before, and no branch tells a boundary
        for (std::size_t place = begin; place < end; ++place) {
            visit(static_cast<std::uint32_t>(place), symbols[place], symbols[place + 1]);
        }
        return;
    }
    const std::uint32_t* const units = units_.data();
    for (std::size_t place = begin; place < end;) {
        const Symbol symbol = symbols[place];
        const std::size_t next = place + (symbol == boundary ? 1 : units[symbol]);
        visit(static_cast<std::uint32_t>(place), symbol, symbols[next]);
        place = next;
    }
}

/// How many places have a right neighbour, by symbol there.
template <typename Symbol>
std::vector<std::uint32_t> PairText<Symbol>::count_by_left(std::size_t begin,
                                                           std::size_t end) const {
    const auto outside = static_cast<std::uint32_t>(units_.size());
    std::vector<std::uint32_t> sizes(units_.size() + 1);
    std::uint32_t* const counts = sizes.data();
    for_each_place(begin, end, [=](std::uint32_t, Symbol left, Symbol right) {
        counts[std::min<std::uint32_t>(left, outside)] += right != boundary ? 1 : 0;
    });
    sizes.pop_back();
    return sizes;
}

/// Writes the places that have a right neighbour into the group of the symbol there. What is in no
/// group goes where the group after the last begins.
template <typename Symbol>
void PairText<Symbol>::group_by_left(std::size_t begin, std::size_t end, Group* groups,
                                     Occurrence* places) const {
    const auto ids = static_cast<std::uint32_t>(units_.size());
    const std::uint32_t outside = groups[ids].next;
    for_each_place(begin, end, [=](std::uint32_t place, Symbol left, Symbol right) {
        // A number, since no branch foresees which it is.
        Group& group = groups[std::min<std::uint32_t>(left, ids)];
        const std::uint32_t found = group.wanted & static_cast<std::uint32_t>(right != boundary);
        places[outside - (outside - group.next) * found] = {place, boundary, right};
        group.next += found;
    });
}

/// Makes the pairs of one left symbol and their lists.
template <typename Symbol>
void PairText<Symbol>::pair_up(TokenId left, std::span<const Occurrence> group, Beside& beside,
                               Piece& piece) {
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
            found.list = piece.lists_end;
            piece.lists_end += found.length;
            piece.pairs.push_back({left, right, found.list, found.length, found.weight});
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

template <typename Symbol>
template <typename Work>
void PairText<Symbol>::parallel(std::size_t items, const Work& work) const {
    in_parallel(options_.threads, items, [&](unsigned, std::size_t item) { work(item); });
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
