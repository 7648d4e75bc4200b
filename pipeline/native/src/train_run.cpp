#include "train_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

template <typename Symbol>
Run<Symbol>::Run(Training& training, Words<Symbol> words)
    : training_(training), options_(training.options), order_(training),
      text_(std::move(words), training.tokens.size(), &training.tokens, options_,
            options_.tuning.exact_length),
      buckets_(std::max<std::size_t>(options_.tuning.bucket_limit, 2)) {}

template <typename Symbol> bool Run<Symbol>::done() const {
    if constexpr (std::is_same_v<Symbol, std::uint16_t>) {
        if (training_.tokens.size() >= narrow_tokens(options_.tuning)) {
            return true;
        }
    }
    return training_.done();
}

template <typename Symbol> void Run<Symbol>::merge_all() {
    merge_stored();
    if (!done() && least_ != options_.min_count) {
        if (options_.ties != Ties::first_seen) { // which needs the positions that this loses
            text_.compact();
        }
        find_pairs(options_.min_count);
        while (!done() && merge_next()) {
        }
    }
}

template <typename Symbol> void Run<Symbol>::merge_stored() {
    find_pairs(std::max(options_.min_count, options_.tuning.prune_below));
    while (!done() && merge_next()) {
    }
}

template <typename Symbol> void Run<Symbol>::find_pairs(Count least) {
    least_ = least;
    buckets_.clear();
    text_.find_pairs(least);
    for (PairIndex pair = 0; pair < text_.pairs(); ++pair) {
        enqueue(pair, text_.pair(pair).count);
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
        text_.prefetch_list(pair);
        // The key of first_seen is that of the live occurrences, which is final while the count is.
        const bool recounted =
            text_.is_exact(text_.pair(pair)) || options_.ties == Ties::first_seen;
        if (const Count now = recounted ? text_.current_count(pair) : count; now == count) {
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
            if (next + 1 < level_.size()) {
                text_.prefetch_text(level_[next + 1].pair);
            }
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
template <typename Symbol> void Run<Symbol>::try_merge(const Candidate& next) {
    const Count now = text_.current_count(next.pair);
    if (now != next.count) {
        enqueue(next.pair, now);
        return;
    }
    if (options_.tuning.check_counts && text_.recount(next.pair) != now) {
        throw std::runtime_error("the exact count of a pair is wrong: a defect of the trainer");
    }
    merge(next.pair);
}

template <typename Symbol> void Run<Symbol>::merge(PairIndex pair) {
    const Pair& merged = text_.pair(pair);
    training_.join(merged.left, merged.right, merged.count);
    for (PairIndex made = text_.merge(pair); made < text_.pairs(); ++made) {
        enqueue(made, text_.pair(made).count);
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
    const Pair& entry = text_.pair(pair);
    const std::uint64_t key = options_.ties == Ties::first_seen
                                  ? text_.first_position(entry)
                                  : order_.key(entry.left, entry.right);
    return {count, key, pair};
}

template <typename Symbol>
bool Run<Symbol>::precedes(const Candidate& left, const Candidate& right) const {
    return left.key != right.key ? left.key < right.key
                                 : order_.goes_first(text_.pair(left.pair), text_.pair(right.pair));
}

template class Run<std::uint16_t>;
template class Run<std::uint32_t>;

} // namespace jogak
