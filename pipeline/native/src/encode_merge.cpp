#include "jogak/merge_kernel.hpp"

#include <algorithm>
#include <functional>

namespace jogak {

std::size_t merge_by_scan(const MergeTable& table, Symbol* symbols, Symbol* joined,
                          std::size_t count) noexcept {
    if (count < 2) {
        return count;
    }
    for (std::size_t i = 0; i + 1 < count; ++i) {
        joined[i] = table.join(symbols[i], symbols[i + 1]);
    }
    for (;;) {
        std::size_t at = 0;
        Symbol lowest = joined[0];
        for (std::size_t i = 1; i + 1 < count; ++i) {
            at = joined[i] < lowest ? i : at;
            lowest = joined[i] < lowest ? joined[i] : lowest;
        }
        if (lowest == no_symbol) {
            return count;
        }
        symbols[at] = lowest;
        --count;
        for (std::size_t i = at + 1; i < count; ++i) {
            symbols[i] = symbols[i + 1];
            joined[i - 1] = joined[i];
        }
        if (count == 1) {
            return 1;
        }
        if (at > 0) {
            joined[at - 1] = table.join(symbols[at - 1], lowest);
        }
        if (at + 1 < count) {
            joined[at] = table.join(lowest, symbols[at + 1]);
        }
    }
}

namespace {

constexpr std::uint32_t none = 0xFFFFFFFFU;

/// The symbols of a unit as a linked list over their first positions, and a queue of its pairs.
class Chain {
  public:
    Chain(const MergeTable& table, Symbol* symbols, std::size_t count, MergeScratch& scratch)
        : table_(table), symbols_(symbols), count_(static_cast<std::uint32_t>(count)),
          joined_(scratch.joined), previous_(scratch.previous), next_(scratch.next),
          queue_(scratch.queue) {
        joined_.resize(count);
        previous_.resize(count);
        next_.resize(count);
        queue_.clear();
        queue_.reserve(count);
        for (std::uint32_t i = 0; i < count_; ++i) {
            previous_[i] = i == 0 ? none : i - 1;
            next_[i] = i + 1 == count_ ? none : i + 1;
        }
        for (std::uint32_t i = 0; i < count_; ++i) {
            joined_[i] = next_[i] == none ? no_symbol : table_.join(symbols_[i], symbols_[i + 1]);
            if (joined_[i] != no_symbol) {
                queue_.push_back(entry(i));
            }
        }
        std::ranges::make_heap(queue_, std::greater{});
    }

    void merge_all() {
        while (!queue_.empty()) {
            std::ranges::pop_heap(queue_, std::greater{});
            const std::uint64_t top = queue_.back();
            queue_.pop_back();
            const auto at = static_cast<std::uint32_t>(top);
            // An entry is stale when its pair is gone: a symbol is made by one pair only, so the
            // result tells whether it is still the same.
            if (joined_[at] == static_cast<Symbol>(top >> 32)) {
                merge(at);
            }
        }
    }

    [[nodiscard]] std::size_t compact() noexcept {
        std::size_t size = 0;
        for (std::uint32_t i = 0; i != none; i = next_[i]) {
            symbols_[size++] = symbols_[i];
        }
        return size;
    }

  private:
    [[nodiscard]] std::uint64_t entry(std::uint32_t at) const noexcept {
        return static_cast<std::uint64_t>(joined_[at]) << 32 | at;
    }

    void merge(std::uint32_t at) {
        const std::uint32_t gone = next_[at];
        symbols_[at] = joined_[at];
        joined_[gone] = no_symbol;
        next_[at] = next_[gone];
        if (next_[at] != none) {
            previous_[next_[at]] = at;
        }
        renew(at);
        if (previous_[at] != none) {
            renew(previous_[at]);
        }
    }

    void renew(std::uint32_t at) {
        joined_[at] =
            next_[at] == none ? no_symbol : table_.join(symbols_[at], symbols_[next_[at]]);
        if (joined_[at] != no_symbol) {
            queue_.push_back(entry(at));
            std::ranges::push_heap(queue_, std::greater{});
        }
    }

    const MergeTable& table_;
    Symbol* symbols_;
    std::uint32_t count_;
    std::vector<Symbol>& joined_;
    std::vector<std::uint32_t>& previous_;
    std::vector<std::uint32_t>& next_;
    std::vector<std::uint64_t>& queue_;
};

} // namespace

std::size_t merge_by_queue(const MergeTable& table, Symbol* symbols, std::size_t count,
                           MergeScratch& scratch) {
    if (count < 2) {
        return count;
    }
    Chain chain(table, symbols, count, scratch);
    chain.merge_all();
    return chain.compact();
}

} // namespace jogak
