// One merge: rewrite the occurrences, see what stands beside them, make the lists of the new pairs.
#include "train_text.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

namespace {

/// How many occurrences ahead the text is asked for.
constexpr std::uint32_t ahead = 32;

} // namespace

template <typename Symbol> PairIndex PairText<Symbol>::merge(PairIndex pair) {
    const Pair merged = pairs_[pair];
    const auto token = static_cast<TokenId>(units_.size());
    units_.push_back(units_[merged.left] + units_[merged.right]);
    left_.found.resize(units_.size());
    right_.found.resize(units_.size());
    one_symbol_each_ = false;
    occurrences_.clear();
    merged_weight_ = 0;
    std::size_t noted = 0;
    const std::uint32_t end = merged.list + merged.length;
    const std::uint32_t block = std::max(options_.tuning.block, 1U);
    for (std::uint32_t begin = merged.list; begin < end;) {
        const std::uint32_t next = end - begin > block ? begin + block : end;
        rewrite(merged, token, begin, next);
        begin = next;
        // One behind: the next occurrence may still turn the last one's right neighbour into the
        // token, as in "abab".
        if (noted + 1 < occurrences_.size()) {
            note_neighbours(token, noted, occurrences_.size() - 1);
            noted = occurrences_.size() - 1;
        }
    }
    note_neighbours(token, noted, occurrences_.size());
    hole_ = merged.list;
    hole_end_ = end;
    const auto first_new = static_cast<PairIndex>(pairs_.size());
    make_lists(merged, token);
    pairs_[pair].count = 0;
    return first_new;
}

/// Rewrites the live occurrences of places_[begin, end), and appends them to occurrences_.
template <typename Symbol>
void PairText<Symbol>::rewrite(const Pair& pair, TokenId token, std::uint32_t begin,
                               std::uint32_t end) {
    Symbol* symbols = words_.symbols();
    const std::uint32_t step = units_[pair.left];
    const std::uint32_t last = units_[token] - 1;
    const auto left = static_cast<Symbol>(pair.left);
    const auto right = static_cast<Symbol>(pair.right);
    const auto made = static_cast<Symbol>(token);
    std::size_t count = occurrences_.size();
    occurrences_.resize(count + (end - begin));
    const auto put = [&](std::uint32_t place) {
        symbols[place] = made;
        symbols[place + step] = Words<Symbol>::dead;
        symbols[place + last] = made;
    };
    if (left == right) { // overlapping occurrences: each rewriting decides whether the next lives
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t place = places_[i];
            if (is_live(symbols, place, step, left, right) != 0) {
                put(place);
                occurrences_[count++].place = place;
            }
        }
    } else {
        std::size_t kept = count;
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t place = places_[i];
            __builtin_prefetch(&symbols[places_[std::min(i + ahead, end - 1)]], 1);
            occurrences_[kept].place = place;
            kept += is_live(symbols, place, step, left, right);
        }
        for (; count < kept; ++count) {
            put(occurrences_[count].place);
        }
    }
    occurrences_.resize(count);
}

/// Adds up by token what stands beside occurrences_[begin, end).
template <typename Symbol>
void PairText<Symbol>::note_neighbours(TokenId token, std::size_t begin, std::size_t end) {
    const Symbol* const symbols = words_.symbols();
    const std::uint32_t units = units_[token];
    const auto note = [](Neighbour& found, TokenId id, std::vector<TokenId>& touched,
                         Count weight) {
        if (found.length == 0) {
            touched.push_back(id);
        }
        found.weight += weight;
        ++found.length;
    };
    Neighbour* const lefts = left_.found.data();
    Neighbour* const rights = right_.found.data();
    Count sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
        Occurrence& occurrence = occurrences_[i];
        const std::uint32_t place = occurrence.place;
        const Count weight = words_.weight(place);
        sum += weight;
        const Symbol left = symbols[place - 1];
        const Symbol right = symbols[place + units];
        // Where two occurrences meet, the pair of the token with itself is the left one's.
        occurrence.left = left == token ? boundary : left;
        occurrence.right = right;
        if (occurrence.left != boundary) {
            note(lefts[left], left, left_.touched, weight);
        }
        if (right != boundary) {
            note(rights[right], right, right_.touched, weight);
        }
    }
    merged_weight_ += sum;
}

/// Takes occurrences that a merge destroyed from a pair whose count is kept exact.
template <typename Symbol> void PairText<Symbol>::lower(TokenId left, TokenId right, Count weight) {
    if (const PairIndex pair = exact_.find(left, right, pairs_.data());
        pair != PairFinder::absent) {
        pairs_[pair].count -= weight;
    }
}

/// Makes the pairs of the new token, all of whose occurrences exist now and never will again.
template <typename Symbol> void PairText<Symbol>::make_lists(const Pair& merged, TokenId token) {
    const auto make = [this](TokenId left, TokenId right, Neighbour& found) {
        found.list = not_kept;
        if (is_kept(left, right, found.weight)) {
            found.list = allot(found.length);
            add_pair({left, right, found.list, found.length, found.weight});
        }
    };
    for (const TokenId left : left_.touched) {
        lower(left, merged.left, left_.found[left].weight);
        make(left, token, left_.found[left]);
    }
    for (const TokenId right : right_.touched) {
        lower(merged.right, right == token ? merged.left : right, right_.found[right].weight);
        make(token, right, right_.found[right]);
    }
    deal_out();
    left_.clear();
    right_.clear();
}

/// Writes the lists of the new pairs.
template <typename Symbol> void PairText<Symbol>::deal_out() {
    const std::uint32_t* const units = units_.data();
    Neighbour* const lefts = left_.found.data();
    Neighbour* const rights = right_.found.data();
    const Occurrence* const end = occurrences_.data() + occurrences_.size();
    for (const Occurrence* at = occurrences_.data(); at != end; ++at) {
        if (at->left != boundary && lefts[at->left].list != not_kept) {
            places_.set(lefts[at->left].list++, at->place - units[at->left]);
        }
        if (at->right != boundary && rights[at->right].list != not_kept) {
            places_.set(rights[at->right].list++, at->place);
        }
    }
}

/// Where a new list goes: into the hole of the consumed one while it fits, else to the end.
template <typename Symbol> std::uint32_t PairText<Symbol>::allot(std::uint32_t length) {
    if (length <= hole_end_ - hole_) {
        hole_ += length;
        return hole_ - length;
    }
    const std::size_t list = places_.size();
    if (list + length >= not_kept) {
        throw std::invalid_argument(
            "the occurrences of all pairs must be fewer than 2^32; train on "
            "fewer pretokens");
    }
    places_.resize(list + length);
    return static_cast<std::uint32_t>(list);
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
