// One merge in a text of segments.
#include "train_segment_run.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace jogak {

namespace {

/// Merges whose share of joins may be used up before they are made.
constexpr std::size_t merges_ahead = 256;

} // namespace

/// False where the merge would make too many segments: nothing has changed then but how text is cut
/// into segments.
bool SegmentRun::merge(PairIndex index) {
    const TokenPair pair = pairs_[index];
    if (training_.options.tuning.check_counts && recount(pair) != pair.count) {
        throw std::runtime_error("the exact count of a pair is wrong: a defect of the trainer");
    }
    if (!join_segments(pair.left, pair.right)) {
        return false;
    }
    const TokenId made = training_.join(pair.left, pair.right, pair.count);
    beginning_.emplace_back();
    ending_.emplace_back();
    left_.resize(made + 1);
    right_.resize(made + 1);
    changed_.clear();
    for (std::uint32_t at = pairs_[index].segments; at != none; at = links_[at].next) {
        rewrite(links_[at].segment, pair, made);
    }
    for (const Id segment : changed_) {
        note_neighbours(segment, made);
    }
    make_pairs(pair, made);
    pairs_[index].count = 0;
    return true;
}

/// Makes one segment of every two between which the pair stands; the pair is within segments then.
bool SegmentRun::join_segments(TokenId left, TokenId right) {
    gather_junctions(left, right);
    // Joining takes as long as many merges of a place: where characters are as good as random, and
    // hardly two of them meet twice, that is more than segments save.
    joins_ += joined_.size();
    if (joins_ >
        training_.options.tuning.segment_joins * (training_.merges.counts.size() + merges_ahead)) {
        return false;
    }
    for (std::size_t i = 0; i < joined_.size(); ++i) { // joining may make further ones
        if (text_.pair(joined_[i]).count == 0) {
            continue;
        }
        if (segments_.is_full()) {
            return false;
        }
        join_segment(joined_[i], left, right);
    }
    return true;
}

void SegmentRun::gather_junctions(TokenId left, TokenId right) {
    joined_.clear();
    const auto gather = [&](const std::vector<Id>& segments, const std::vector<TokenId>& tokens,
                            TokenId token, auto side) {
        for (const Id segment : segments) {
            if (tokens[segment] != token || segments_.weight(segment) == 0) {
                continue;
            }
            for (const PairIndex junction : junctions_[segment].*side) {
                const Pair& pair = text_.pair(junction);
                if (pair.count != 0 && last_[pair.left] == left && first_[pair.right] == right) {
                    joined_.push_back(junction);
                }
            }
        }
    };
    const auto cost = [this](const std::vector<Id>& segments, auto side) {
        return std::accumulate(
            segments.begin(), segments.end(), std::size_t{0},
            [&](std::size_t sum, Id segment) { return sum + (junctions_[segment].*side).size(); });
    };
    if (cost(ending_[left], &Junctions::after) <= cost(beginning_[right], &Junctions::before)) {
        gather(ending_[left], last_, left, &Junctions::after);
    } else {
        gather(beginning_[right], first_, right, &Junctions::before);
    }
}

void SegmentRun::join_segment(PairIndex junction, TokenId left, TokenId right) {
    const Pair pair = text_.pair(junction);
    const auto segment = static_cast<Id>(segments_.join(pair.left, pair.right));
    const PairIndex first_new = text_.merge(junction);
    segments_.move_weight(pair.left, pair.right, text_.merged_weight());
    add_segment(segment);
    const std::span<const TokenId> inside = segments_.tokens(segment);
    for (std::size_t i = 1; i < inside.size(); ++i) {
        link(inside[i - 1], inside[i], segment);
    }
    for (PairIndex made = first_new; made < text_.pairs(); ++made) {
        connect(made);
        const Pair& next = text_.pair(made);
        if (last_[next.left] == left && first_[next.right] == right) {
            joined_.push_back(made);
        }
    }
}

/// Merges the pair within a segment.
void SegmentRun::rewrite(Id segment, const TokenPair& pair, TokenId made) {
    if (segments_.weight(segment) == 0 || !segments_.merge(segment, pair.left, pair.right, made)) {
        return;
    }
    changed_.push_back(segment);
    const std::span<const TokenId> inside = segments_.tokens(segment);
    if (inside.front() == made) {
        first_[segment] = made;
        beginning_[made].push_back(segment);
    }
    if (inside.back() == made) {
        last_[segment] = made;
        ending_[made].push_back(segment);
    }
}

/// Adds up by token what stands beside the new one in a segment. Where two of them meet, the pair
/// of the token with itself is the left one's.
void SegmentRun::note_neighbours(Id segment, TokenId made) {
    const auto note = [](std::vector<Count>& found, std::vector<TokenId>& touched, TokenId token,
                         Count weight) {
        if (weight != 0) {
            if (found[token] == 0) {
                touched.push_back(token);
            }
            found[token] += weight;
        }
    };
    const std::span<const TokenId> inside = segments_.tokens(segment);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] != made) {
            continue;
        }
        if (i > 0 && inside[i - 1] != made) {
            note(left_, touched_left_, inside[i - 1], segments_.weight(segment));
        }
        if (i + 1 < inside.size()) {
            note(right_, touched_right_, inside[i + 1], segments_.weight(segment));
        }
    }
    if (inside.front() == made) {
        for (const PairIndex junction : junctions_[segment].before) {
            const Pair& pair = text_.pair(junction);
            if (last_[pair.left] != made) {
                note(left_, touched_left_, last_[pair.left], pair.count);
            }
        }
    }
    if (inside.back() == made) {
        for (const PairIndex junction : junctions_[segment].after) {
            const Pair& pair = text_.pair(junction);
            note(right_, touched_right_, first_[pair.right], pair.count);
        }
    }
}

/// Makes the pairs of the new token, and takes their occurrences from those that were there.
void SegmentRun::make_pairs(const TokenPair& merged, TokenId made) {
    const auto lower = [this](TokenId left, TokenId right, Count weight) {
        if (const PairIndex pair = index_.find(left, right, pairs_.data());
            pair != PairFinder::absent) {
            pairs_[pair].count -= weight;
        }
    };
    for (const TokenId left : touched_left_) {
        lower(left, merged.left, left_[left]);
        add_pair(left, made, left_[left]);
        left_[left] = 0;
    }
    for (const TokenId right : touched_right_) {
        lower(merged.right, right == made ? merged.left : right, right_[right]);
        add_pair(made, right, right_[right]);
        right_[right] = 0;
    }
    touched_left_.clear();
    touched_right_.clear();
    for (const Id segment : changed_) {
        const std::span<const TokenId> inside = segments_.tokens(segment);
        for (std::size_t i = 1; i < inside.size(); ++i) {
            if (inside[i - 1] == made || inside[i] == made) {
                link(inside[i - 1], inside[i], segment);
            }
        }
    }
}

} // namespace jogak
