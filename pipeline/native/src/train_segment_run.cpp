#include "train_segment_run.hpp"

#include <algorithm>

namespace jogak {

namespace {

using SegmentWords = Words<std::uint16_t>;

/// Pairs of less than the 2^shift-th part of the text are left to the run that follows: few places
/// are alike there.
constexpr unsigned rare_shift = 13;

std::string_view text_of(const Documents& documents) noexcept {
    if (documents.size() == 0) {
        return {};
    }
    const auto begin = static_cast<std::size_t>(documents.offsets.front());
    const auto end = static_cast<std::size_t>(documents.offsets.back());
    return {reinterpret_cast<const char*>(documents.data.data()) + begin, end - begin};
}

bool is_worthwhile(const TrainInput& input, const TrainOptions& options) {
    if (options.tuning.segment_merges == 0 || options.ties == Ties::first_seen || input.encoded() ||
        !Segments::suit(input.alphabet)) {
        return false;
    }
    const std::string_view text = text_of(input.pretokens);
    const auto leads = std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    });
    return 100 * text.size() >=
           std::size_t{options.tuning.segment_percent} * static_cast<std::size_t>(leads);
}

} // namespace

std::optional<SegmentRun> SegmentRun::begin(Training& training, const TrainInput& input,
                                            const std::vector<std::uint32_t>& order) {
    const TrainOptions& options = training.options;
    if (!is_worthwhile(input, options)) {
        return std::nullopt;
    }
    constexpr std::size_t most = SegmentWords::dead - 1;
    Segments segments(input.alphabet, std::clamp<std::size_t>(options.tuning.segments, 1, most));
    SegmentWords words(input, order, segments, options);
    if (segments.overflowed()) {
        return std::nullopt;
    }
    return SegmentRun(training, std::move(segments), std::move(words));
}

SegmentRun::SegmentRun(Training& training, Segments segments, SegmentWords words)
    : training_(training), order_(training), segments_(std::move(segments)),
      text_(std::move(words), segments_.size(), nullptr, training.options, 0),
      beginning_(training.tokens.size()), ending_(training.tokens.size()) {
    find_pairs();
}

void SegmentRun::merge_first() {
    const auto after = [this](const Candidate& left, const Candidate& right) {
        return left.count != right.count ? left.count < right.count : precedes(right, left);
    };
    std::make_heap(heap_.begin(), heap_.end(), after);
    const TrainTuning& tuning = training_.options.tuning;
    while (!heap_.empty() && !training_.done() &&
           training_.merges.counts.size() < tuning.segment_merges) {
        std::pop_heap(heap_.begin(), heap_.end(), after);
        const Candidate next = heap_.back();
        heap_.pop_back();
        // Counts only fall: a pair's occurrences come into being with its newer token.
        const std::size_t queued = heap_.size();
        if (const Count now = pairs_[next.pair].count; now != next.count) {
            enqueue(next.pair);
        } else if (!merge(next.pair)) {
            return;
        }
        for (std::size_t i = queued; i < heap_.size(); ++i) {
            std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                           after);
        }
    }
}

/// Finds the pairs of tokens within segments and between them.
void SegmentRun::find_pairs() {
    text_.find_pairs(1);
    for (Id segment = 0; segment < segments_.size(); ++segment) {
        add_segment(segment);
    }
    const std::size_t tokens = training_.tokens.size();
    std::vector<Count> counts(tokens * tokens);
    Count total = 0;
    const auto count = [&](TokenId left, TokenId right, Count weight) {
        counts[left * tokens + right] += weight;
        total += weight;
    };
    for (Id segment = 0; segment < segments_.size(); ++segment) {
        const std::span<const TokenId> inside = segments_.tokens(segment);
        for (std::size_t i = 1; i < inside.size(); ++i) {
            count(inside[i - 1], inside[i], segments_.weight(segment));
        }
    }
    for (PairIndex junction = 0; junction < text_.pairs(); ++junction) {
        const Pair& pair = text_.pair(junction);
        count(last_[pair.left], first_[pair.right], pair.count);
        connect(junction);
    }
    const TrainOptions& options = training_.options;
    least_ = std::max({options.min_count, options.tuning.prune_below, total >> rare_shift});
    for (std::size_t i = 0; i < counts.size(); ++i) {
        add_pair(static_cast<TokenId>(i / tokens), static_cast<TokenId>(i % tokens), counts[i]);
    }
    for (Id segment = 0; segment < segments_.size(); ++segment) {
        const std::span<const TokenId> inside = segments_.tokens(segment);
        for (std::size_t i = 1; i < inside.size(); ++i) {
            link(inside[i - 1], inside[i], segment);
        }
    }
}

void SegmentRun::add_segment(Id segment) {
    const std::span<const TokenId> inside = segments_.tokens(segment);
    first_.push_back(inside.front());
    last_.push_back(inside.back());
    junctions_.emplace_back();
    beginning_[inside.front()].push_back(segment);
    ending_[inside.back()].push_back(segment);
}

void SegmentRun::connect(PairIndex junction) {
    const Pair& pair = text_.pair(junction);
    junctions_[pair.left].after.push_back(junction);
    junctions_[pair.right].before.push_back(junction);
}

/// Stores and queues a pair that is frequent enough and may be merged.
void SegmentRun::add_pair(TokenId left, TokenId right, Count count) {
    if (count < least_ || !training_.tokens.may_join(left, right)) {
        return;
    }
    const auto index = static_cast<PairIndex>(pairs_.size());
    pairs_.push_back({left, right, count, none});
    index_.insert(left, right, index);
    enqueue(index);
}

/// Notes that a segment holds a pair, once: a long segment may hold it a million times. All pairs
/// of a segment are noted before those of the next one.
void SegmentRun::link(TokenId left, TokenId right, Id segment) {
    const PairIndex pair = index_.find(left, right, pairs_.data());
    if (pair == PairFinder::absent) {
        return;
    }
    std::uint32_t& head = pairs_[pair].segments;
    if (head == none || links_[head].segment != segment) {
        links_.push_back({segment, head});
        head = static_cast<std::uint32_t>(links_.size() - 1);
    }
}

bool SegmentRun::precedes(const Candidate& left, const Candidate& right) const {
    return left.key != right.key ? left.key < right.key
                                 : order_.goes_first(pairs_[left.pair], pairs_[right.pair]);
}

/// Appends a pair to the queue; its order is the caller's business.
void SegmentRun::enqueue(PairIndex index) {
    const TokenPair& pair = pairs_[index];
    if (pair.count >= least_) {
        heap_.push_back({pair.count, order_.key(pair.left, pair.right), index});
    }
}

/// The count of a pair as it stands, from everything that is known.
Count SegmentRun::recount(const TokenPair& pair) {
    Count sum = 0;
    for (Id segment = 0; segment < segments_.size(); ++segment) {
        const std::span<const TokenId> inside = segments_.tokens(segment);
        for (std::size_t i = 1; i < inside.size(); ++i) {
            sum += inside[i - 1] == pair.left && inside[i] == pair.right ? segments_.weight(segment)
                                                                         : 0;
        }
    }
    for (PairIndex junction = 0; junction < text_.pairs(); ++junction) {
        const Pair& both = text_.pair(junction);
        // The list of a pair that was joined is others' by now.
        if (both.count != 0 && last_[both.left] == pair.left && first_[both.right] == pair.right) {
            sum += text_.recount(junction);
        }
    }
    return sum;
}

} // namespace jogak
