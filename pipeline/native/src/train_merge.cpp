// One merge: rewrite the occurrences, see what stands beside them, make the lists of the new pairs.
#include "train_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

namespace {

/// How many occurrences ahead the text is asked for.
constexpr std::uint32_t ahead = 32;

} // namespace

template <typename Symbol> void Run<Symbol>::merge(PairIndex pair) {
    const Pair merged = pairs_[pair];
    const TokenId token = tokens_.join(merged.left, merged.right);
    left_.resize(tokens_.size());
    right_.resize(tokens_.size());
    merges_.left.push_back(merged.left);
    merges_.right.push_back(merged.right);
    merges_.counts.push_back(merged.count);
    occurrences_.clear();
    std::size_t noted = 0;
    const std::uint32_t end = merged.list + merged.length;
    const std::uint32_t block = std::max(options_.tuning.block, 1U);
    for (std::uint32_t begin = merged.list; begin < end;) {
        const std::uint32_t next = end - begin > block ? begin + block : end;
        rewrite(merged, token, begin, next);
        begin = next;
        // One behind: the next occurrence may still turn the last one's right neighbour into the
        // token, as in "abab".
        for (; noted + 1 < occurrences_.size(); ++noted) {
            note_neighbours(occurrences_[noted], token);
        }
    }
    for (; noted < occurrences_.size(); ++noted) {
        note_neighbours(occurrences_[noted], token);
    }
    hole_ = merged.list;
    hole_end_ = end;
    make_lists(merged, token);
    control_.report(merges_.counts.size(), merged.count, tokens_.bytes(token));
}

/// Rewrites the live occurrences of places_[begin, end), and appends them to occurrences_.
template <typename Symbol>
void Run<Symbol>::rewrite(const Pair& pair, TokenId token, std::uint32_t begin, std::uint32_t end) {
    Symbol* symbols = words_.symbols();
    const std::uint32_t step = tokens_.units(pair.left);
    const std::uint32_t last = tokens_.units(token) - 1;
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
            if (symbols[place] == left && symbols[place + step] == right) {
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
            kept += symbols[place] == left && symbols[place + step] == right ? 1 : 0;
        }
        for (; count < kept; ++count) {
            put(occurrences_[count].place);
        }
    }
    occurrences_.resize(count);
}

template <typename Symbol>
void Run<Symbol>::note_neighbours(Occurrence& occurrence, TokenId token) {
    const Symbol* symbols = words_.symbols();
    const std::uint32_t place = occurrence.place;
    const Count weight = words_.weight(place);
    const Symbol left = symbols[place - 1];
    const Symbol right = symbols[place + tokens_.units(token)];
    const auto note = [weight](Symbol neighbour, std::vector<Neighbour>& found,
                               std::vector<TokenId>& touched) {
        if (found[neighbour].length == 0) {
            touched.push_back(neighbour);
        }
        found[neighbour].weight += weight;
        ++found[neighbour].length;
    };
    // Where two occurrences meet, the pair of the token with itself is the left one's.
    occurrence.left = left == token ? boundary : left;
    occurrence.right = right;
    if (occurrence.left != boundary) {
        note(left, left_, touched_left_);
    }
    if (right != boundary) {
        note(right, right_, touched_right_);
    }
}

/// Takes occurrences that a merge destroyed from a pair whose count is kept exact.
template <typename Symbol> void Run<Symbol>::lower(TokenId left, TokenId right, Count weight) {
    if (const PairIndex pair = exact_.find(left, right); pair != ExactPairs::absent) {
        pairs_[pair].count -= weight;
    }
}

/// Makes the pairs of the new token, all of whose occurrences exist now and never will again.
template <typename Symbol> void Run<Symbol>::make_lists(const Pair& merged, TokenId token) {
    const auto first_new = static_cast<PairIndex>(pairs_.size());
    const auto make = [this](TokenId left, TokenId right, Neighbour& found) {
        found.list = not_kept;
        if (found.weight >= least_ && tokens_.may_join(left, right)) {
            found.list = allot(found.length);
            add_pair(left, right, found);
        }
    };
    for (const TokenId left : touched_left_) {
        lower(left, merged.left, left_[left].weight);
        make(left, token, left_[left]);
    }
    for (const TokenId right : touched_right_) {
        lower(merged.right, right == token ? merged.left : right, right_[right].weight);
        make(token, right, right_[right]);
    }
    for (std::size_t i = 0; i < occurrences_.size(); ++i) {
        const Occurrence& at = occurrences_[i];
        if (at.left != boundary && left_[at.left].list != not_kept) {
            places_[left_[at.left].list++] = at.place - tokens_.units(at.left);
        }
        if (at.right != boundary && right_[at.right].list != not_kept) {
            places_[right_[at.right].list++] = at.place;
        }
    }
    for (const TokenId left : touched_left_) {
        left_[left] = {};
    }
    for (const TokenId right : touched_right_) {
        right_[right] = {};
    }
    touched_left_.clear();
    touched_right_.clear();
    for (PairIndex pair = first_new; pair < pairs_.size(); ++pair) {
        enqueue(pair, pairs_[pair].count);
    }
}

/// Where a new list goes: into the hole of the consumed one while it fits, else to the end.
template <typename Symbol> std::uint32_t Run<Symbol>::allot(std::uint32_t length) {
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

template class Run<std::uint16_t>;
template class Run<std::uint32_t>;

} // namespace jogak
