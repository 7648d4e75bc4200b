// Pairs, the queue that yields them by count, and the exact counts of the frequent ones. Private to
// train.
#pragma once

#include "jogak/text.hpp"
#include "large_block.hpp"
#include "train_array.hpp"

#include <algorithm>
#include <utility>
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

/// Finds pairs by their tokens: open addressing, linear probing. The pairs themselves stand in an
/// array of the caller's, whose items have a `left` and a `right`.
class PairFinder {
  public:
    static constexpr PairIndex absent = ~PairIndex{0};

    void clear() {
        slots_ = LargeBlock();
        capacity_ = 0;
        size_ = 0;
    }

    /// Makes room for so many pairs.
    void reserve(std::size_t pairs) {
        std::size_t capacity = std::max(capacity_, initial_slots);
        while (pairs * 3 > capacity * 2) {
            capacity *= 2;
        }
        if (capacity > capacity_) {
            grow(capacity);
        }
    }

    void insert(TokenId left, TokenId right, PairIndex pair) {
        reserve(size_ + 1);
        place({tag(left, right), pair + 1});
        ++size_;
    }

    template <typename Item>
    [[nodiscard]] PairIndex find(TokenId left, TokenId right, const Item* pairs) const noexcept {
        if (size_ == 0) {
            return absent;
        }
        const std::uint32_t wanted = tag(left, right);
        const Slot* const slots = this->slots();
        for (std::size_t at = index(wanted);; at = (at + 1) & (capacity_ - 1)) {
            if (slots[at].next_pair == 0) {
                return absent;
            }
            const PairIndex pair = slots[at].next_pair - 1;
            if (slots[at].tag == wanted && pairs[pair].left == left && pairs[pair].right == right) {
                return pair;
            }
        }
    }

  private:
    struct Slot {
        std::uint32_t tag;       // of the two tokens
        std::uint32_t next_pair; // the pair plus 1; 0: empty
    };
    static constexpr std::size_t initial_slots = 1024;

    static std::uint32_t tag(TokenId left, TokenId right) noexcept {
        const std::uint64_t both = std::uint64_t{left} << 32U | right;
        return static_cast<std::uint32_t>((both ^ both >> 29U) * 0x9E3779B97F4A7C15U >> 32U);
    }
    [[nodiscard]] Slot* slots() const noexcept { return static_cast<Slot*>(slots_.data()); }
    [[nodiscard]] std::size_t index(std::uint32_t tag) const noexcept {
        return tag & (capacity_ - 1);
    }
    void place(Slot slot) noexcept {
        std::size_t at = index(slot.tag);
        while (slots()[at].next_pair != 0) {
            at = (at + 1) & (capacity_ - 1);
        }
        slots()[at] = slot;
    }
    void grow(std::size_t capacity) {
        const LargeBlock old = std::exchange(slots_, LargeBlock(capacity * sizeof(Slot)));
        const std::size_t old_capacity = std::exchange(capacity_, capacity);
        const auto* const slot = static_cast<const Slot*>(old.data());
        for (std::size_t i = 0; i < old_capacity; ++i) {
            if (slot[i].next_pair != 0) {
                place(slot[i]);
            }
        }
    }

    LargeBlock slots_; // zeroed
    std::size_t capacity_ = 0;
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
