#include "train_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

template <typename Symbol>
Run<Symbol>::Run(const TrainInput& input, const std::vector<std::uint32_t>& order,
                 const TrainOptions& options, TrainControl& control)
    : options_(options), control_(control), tokens_(input.alphabet, options),
      words_(input, order, options.ties == Ties::first_seen),
      buckets_(std::max<std::size_t>(options.tuning.bucket_limit, 2)),
      least_(std::max(options.min_count, options.tuning.prune_below)) {
    left_.resize(tokens_.size());
    right_.resize(tokens_.size());
}

template <typename Symbol>
template <typename Other>
Run<Symbol>::Run(Run<Other>& earlier)
    : options_(earlier.options_), control_(earlier.control_), tokens_(std::move(earlier.tokens_)),
      words_((earlier.forget_pairs(), earlier.words_), tokens_.units()),
      buckets_(std::move(earlier.buckets_)), least_(options_.min_count),
      merges_(std::move(earlier.merges_)), left_(tokens_.size()), right_(tokens_.size()) {
    tokens_.count_as_one();
}

template <typename Symbol> bool Run<Symbol>::done() const {
    if constexpr (std::is_same_v<Symbol, std::uint16_t>) {
        if (tokens_.size() >= narrow_tokens(options_.tuning)) {
            return true;
        }
    }
    return merges_.counts.size() >= options_.merges || control_.cancelled();
}

template <typename Symbol> Merges Run<Symbol>::merge_all() {
    rebuild(least_);
    for (;;) {
        while (!done() && merge_next()) {
        }
        if (done() || least_ == options_.min_count) {
            break;
        }
        compact();
        rebuild(options_.min_count);
    }
    return std::move(merges_);
}

template <typename Symbol> void Run<Symbol>::merge_stored() {
    rebuild(least_);
    while (!done() && merge_next()) {
    }
}

/// Merges the best pair, or all of its count; false where no stored pair is frequent enough.
template <typename Symbol> bool Run<Symbol>::merge_next() {
    const auto after = [this](const Candidate& left, const Candidate& right) {
        return left.count != right.count ? left.count < right.count : precedes(right, left);
    };
    if (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), after);
        const Candidate next = heap_.back();
        heap_.pop_back();
        try_merge(next);
        return true;
    }
    Count count = 0;
    if (!buckets_.take_top(least_, count, taken_)) {
        return false;
    }
    merge_level(count);
    return true;
}

/// Merges all pairs of one count, best first. What falls below it is queued again.
template <typename Symbol> void Run<Symbol>::merge_level(Count count) {
    const auto before = [this](const Candidate& left, const Candidate& right) {
        return precedes(left, right);
    };
    const auto after = [this](const Candidate& left, const Candidate& right) {
        return precedes(right, left);
    };
    level_.clear();
    for (const PairIndex pair : taken_) {
        // The key of first_seen is that of the live occurrences, which is final while the count is.
        const bool recounted = is_exact(pairs_[pair]) || options_.ties == Ties::first_seen;
        if (const Count now = recounted ? current_count(pair) : count; now == count) {
            level_.push_back(candidate(pair, count));
        } else {
            enqueue(pair, now);
        }
    }
    std::sort(level_.begin(), level_.end(), before);
    level_count_ = count;
    born_.clear();
    for (std::size_t next = 0; !done() && (next < level_.size() || !born_.empty());) {
        if (born_.empty() || (next < level_.size() && precedes(level_[next], born_.front()))) {
            try_merge(level_[next++]);
        } else {
            std::pop_heap(born_.begin(), born_.end(), after);
            const Candidate best = born_.back();
            born_.pop_back();
            try_merge(best);
        }
    }
    level_count_ = 0;
}

/// Merges the pair if its count still stands; else queues it by what is left.
template <typename Symbol> bool Run<Symbol>::try_merge(const Candidate& next) {
    const Count now = current_count(next.pair);
    if (now != next.count) {
        enqueue(next.pair, now);
        return false;
    }
    if (options_.tuning.check_counts && recount(pairs_[next.pair]) != now) {
        throw std::runtime_error("the exact count of a pair is wrong: a defect of the trainer");
    }
    merge(next.pair);
    return true;
}

template <typename Symbol> Count Run<Symbol>::current_count(PairIndex pair) {
    Pair& entry = pairs_[pair];
    return is_exact(entry) ? entry.count : recount(entry);
}

/// Drops what is no longer an occurrence from the list, and adds up the rest.
template <typename Symbol> Count Run<Symbol>::recount(Pair& pair) {
    const Symbol* symbols = words_.symbols();
    const std::uint32_t step = tokens_.units(pair.left);
    const auto left = static_cast<Symbol>(pair.left);
    const auto right = static_cast<Symbol>(pair.right);
    std::uint32_t kept = 0;
    Count sum = 0;
    for (std::uint32_t i = 0; i < pair.length; ++i) {
        const std::uint32_t place = places_[pair.list + i];
        const bool live = symbols[place] == left && symbols[place + step] == right;
        places_.set(pair.list + kept, place);
        kept += live ? 1 : 0;
        sum += live ? words_.weight(place) : 0;
    }
    pair.length = kept;
    pair.count = sum;
    return sum;
}

template <typename Symbol>
void Run<Symbol>::add_pair(TokenId left, TokenId right, const Neighbour& found) {
    if (pairs_.size() >= ExactPairs::absent) {
        throw std::invalid_argument(
            "there must be fewer than 2^32 pairs; train on fewer pretokens");
    }
    const auto index = static_cast<PairIndex>(pairs_.size());
    pairs_.push_back({left, right, found.list, found.length, found.weight});
    if (is_exact(pairs_[index])) {
        exact_.insert(left, right, index);
    }
}

template <typename Symbol> void Run<Symbol>::enqueue(PairIndex pair, Count count) {
    if (count < least_) {
        return; // found again by a rebuild, if it is still wanted then
    }
    const auto after = [this](const Candidate& left, const Candidate& right) {
        return left.count != right.count ? left.count < right.count : precedes(right, left);
    };
    if (count >= buckets_.limit()) {
        heap_.push_back(candidate(pair, count));
        std::push_heap(heap_.begin(), heap_.end(), after);
    } else if (count == level_count_) {
        born_.push_back(candidate(pair, count));
        std::push_heap(born_.begin(), born_.end(), after);
    } else {
        buckets_.push(count, pair);
    }
}

template <typename Symbol> Candidate Run<Symbol>::candidate(PairIndex pair, Count count) const {
    const Pair& entry = pairs_[pair];
    switch (options_.ties) {
    case Ties::smallest_ids:
        return {count, std::uint64_t{entry.left} << 32U | entry.right, pair};
    case Ties::lexicographic:
        return {count, tokens_.prefix(entry.left), pair};
    case Ties::largest:
        return {count, ~tokens_.prefix(entry.left), pair};
    case Ties::first_seen:
        return {count, first_position(entry), pair};
    }
    return {count, 0, pair};
}

template <typename Symbol>
bool Run<Symbol>::precedes(const Candidate& left, const Candidate& right) const {
    return left.key != right.key ? left.key < right.key : goes_first(left.pair, right.pair);
}

/// Decides where the keys do not.
template <typename Symbol> bool Run<Symbol>::goes_first(PairIndex left, PairIndex right) const {
    const Pair& one = pairs_[left];
    const Pair& other = pairs_[right];
    if (options_.ties == Ties::lexicographic || options_.ties == Ties::largest) {
        const int sign = options_.ties == Ties::largest ? -1 : 1;
        int order = tokens_.bytes(one.left).compare(tokens_.bytes(other.left));
        if (order == 0) {
            order = tokens_.bytes(one.right).compare(tokens_.bytes(other.right));
        }
        if (order != 0) {
            return order * sign < 0;
        }
    }
    return one.left != other.left ? one.left < other.left : one.right < other.right;
}

/// The earliest occurrence in the text. Words of one count stand in text order, so among words
/// of count 1, which are nearly all, the first is the earliest.
template <typename Symbol> std::uint64_t Run<Symbol>::first_position(const Pair& pair) const {
    std::uint64_t earliest = ~std::uint64_t{0};
    const Symbol* symbols = words_.symbols();
    const std::uint32_t step = tokens_.units(pair.left);
    for (std::uint32_t i = 0; i < pair.length; ++i) {
        const std::uint32_t place = places_[pair.list + i];
        if (symbols[place] != pair.left || symbols[place + step] != pair.right) {
            continue; // an exact pair's list is not cleaned by recounts
        }
        earliest = std::min(earliest, words_.position(place));
        if (place >= words_.singles()) {
            break;
        }
    }
    return earliest;
}

template class Run<std::uint16_t>;
template class Run<std::uint32_t>;
template Run<std::uint32_t>::Run(Run<std::uint16_t>&);

} // namespace jogak
