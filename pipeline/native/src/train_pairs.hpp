// Pairs, the queue that yields them by count, and the exact counts of the frequent ones. Private to
// train.
#pragma once

#include "jogak/text.hpp"
#include "train_array.hpp"

#include <algorithm>
#include <vector>

namespace jogak {

using PairIndex = std::uint32_t;

/// Two adjacent tokens and where they stand. The list is written once, when the pair comes into
/// being, which is when its newer token does; afterwards occurrences only disappear.
struct Pair {
    TokenId left;
    TokenId right;
    std::uint32_t list;   // where the list begins
    std::uint32_t length; // of the list
    Count count;          // exact for long lists, otherwise an upper bound
};
static_assert(sizeof(Pair) == 24);

/// A pair at the head of the queue; `key` orders equal counts, as far as it goes.
struct Candidate {
    Count count;
    std::uint64_t key;
    PairIndex pair;
};

/// Finds the pairs whose counts are kept exact: open addressing, linear probing.
class ExactPairs {
  public:
    static constexpr PairIndex absent = ~PairIndex{0};

    ExactPairs() { clear(); }

    void clear() {
        slots_.assign(initial_slots, {0, absent});
        size_ = 0;
    }

    void insert(TokenId left, TokenId right, PairIndex pair) {
        if (size_ * 2 >= slots_.size()) {
            grow();
        }
        place({key(left, right), pair});
        ++size_;
    }

    [[nodiscard]] PairIndex find(TokenId left, TokenId right) const noexcept {
        const std::uint64_t wanted = key(left, right);
        std::size_t at = index(wanted);
        while (slots_[at].pair != absent && slots_[at].key != wanted) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return slots_[at].pair;
    }

  private:
    struct Slot {
        std::uint64_t key;
        PairIndex pair;
    };
    static constexpr std::size_t initial_slots = 1024;

    static std::uint64_t key(TokenId left, TokenId right) noexcept {
        return std::uint64_t{left} << 32U | right;
    }
    [[nodiscard]] std::size_t index(std::uint64_t wanted) const noexcept {
        const std::uint64_t mixed = (wanted ^ wanted >> 29U) * 0x9E3779B97F4A7C15U;
        return static_cast<std::size_t>(mixed >> 32U) & (slots_.size() - 1);
    }
    void place(Slot slot) noexcept {
        std::size_t at = index(slot.key);
        while (slots_[at].pair != absent) {
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = slot;
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2, {0, absent});
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.pair != absent) {
                place(slot);
            }
        }
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

/// Pairs by count: one chain for each count below the limit. Counts from the limit on are kept in
/// a heap by the trainer itself, since they are few and their order is wanted at once.
class Buckets {
  public:
    explicit Buckets(std::size_t limit) : heads_(limit, none) {}

    [[nodiscard]] std::size_t limit() const noexcept { return heads_.size(); }

    void push(Count count, PairIndex pair) {
        if (pair >= next_.size()) {
            next_.resize(std::size_t{pair} + 1);
        }
        next_[pair] = heads_[static_cast<std::size_t>(count)];
        heads_[static_cast<std::size_t>(count)] = pair;
        top_ = std::max(top_, static_cast<std::size_t>(count));
    }

    /// Takes all pairs of the highest count that is at least `least`; false if there are none.
    bool take_top(Count least, Count& count, std::vector<PairIndex>& pairs) {
        while (top_ > 0 && heads_[top_] == none) {
            --top_;
        }
        if (top_ == 0 || top_ < least) {
            return false;
        }
        count = top_;
        pairs.clear();
        for (PairIndex at = heads_[top_]; at != none; at = next_[at]) {
            pairs.push_back(at);
        }
        heads_[top_] = none;
        return true;
    }

    void clear() {
        std::fill(heads_.begin(), heads_.end(), none);
        next_.clear();
        top_ = 0;
    }

  private:
    static constexpr PairIndex none = ~PairIndex{0};

    std::vector<PairIndex> heads_;
    RawArray<PairIndex> next_;
    std::size_t top_ = 0;
};

} // namespace jogak
