#include "jogak/merge_kernel.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace jogak {

namespace {

Symbol join_at_first(const MergeTable& table, Symbol left, Symbol right) noexcept {
    return (left | right) < first_merged_symbol ? table.join_bytes(left, right)
                                                : table.join(left, right);
}

} // namespace

std::size_t merge_by_scan(const MergeTable& table, ShortUnit& unit, std::size_t count) noexcept {
    // Symbols stay where they start and a bit tells which are alive: nothing is moved, and what
    // would be branches (is there a neighbour?) are lookups of missing_symbol.
    Symbol* symbols = unit.symbols();
    symbols[-1] = missing_symbol;
    symbols[count] = missing_symbol;
    const std::size_t width = (count + 7) / 8 * 8;
    std::array<Symbol, longest_scanned + 2> joined_storage;
    Symbol* joined = joined_storage.data() + 1; // joined[-1]: written for a pair before the first
    for (std::size_t i = 0; i + 1 < count; ++i) {
        joined[i] = join_at_first(table, symbols[i], symbols[i + 1]);
        if (joined[i] != no_symbol) {
            // Most of merging is waiting for the pair table: what this merge would lead to is asked
            // for now, whether or not it comes to that.
            table.prefetch(symbols[static_cast<std::ptrdiff_t>(i) - 1], joined[i]);
            table.prefetch(joined[i], symbols[i + 2]);
        }
    }
    for (std::size_t i = count - 1; i < width; ++i) {
        joined[i] = no_symbol;
    }
    // Bit i + 1: symbol i is alive; bits 0 and count + 1: the missing neighbours, always there.
    std::uint64_t alive = (std::uint64_t{1} << (count + 2)) - 1;
    for (;;) {
        std::uint64_t lowest = ~std::uint64_t{0};
        for (std::size_t i = 0; i < width; i += 8) {
            for (std::size_t j = i; j < i + 8; ++j) {
                const std::uint64_t entry = static_cast<std::uint64_t>(joined[j]) << 32 | j;
                lowest = entry < lowest ? entry : lowest;
            }
        }
        const auto result = static_cast<Symbol>(lowest >> 32);
        if (result == no_symbol) {
            break;
        }
        const auto at = static_cast<unsigned>(lowest);
        const auto after = [&alive](unsigned index) { // the next symbol alive
            return static_cast<unsigned>(std::countr_zero(alive >> (index + 2))) + index + 1;
        };
        const unsigned gone = after(at);
        const unsigned next = after(gone);
        const int previous = 62 - std::countl_zero(alive & ((std::uint64_t{2} << at) - 1));
        alive &= ~(std::uint64_t{2} << gone);
        symbols[at] = result;
        joined[gone] = no_symbol;
        joined[at] = table.join(result, symbols[next]);
        joined[previous] = table.join(symbols[previous], result);
        if (joined[at] != no_symbol) {
            table.prefetch(symbols[previous], joined[at]);
        }
        if (joined[previous] != no_symbol) {
            table.prefetch(joined[previous], symbols[next]);
        }
    }
    std::size_t remaining = 0;
    for (std::uint64_t bits = alive >> 1 & ((std::uint64_t{1} << count) - 1); bits != 0;
         bits &= bits - 1) {
        symbols[remaining++] = symbols[std::countr_zero(bits)];
    }
    return remaining;
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
            joined_[i] =
                next_[i] == none ? no_symbol : join_at_first(table_, symbols_[i], symbols_[i + 1]);
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
