#include "count_ranges.hpp"

#include <bit>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

constexpr std::size_t range_slots = std::size_t{1} << 14U;

} // namespace

Ranges::Ranges(std::span<Table* const> tables, bool keep)
    : tables_(tables), keep_(keep), size_(ranges_of(tables)),
      bits_(static_cast<unsigned>(std::countr_zero(size_))), finished_(size_) {
    for (const Table* table : tables) {
        if (tables.size() > 1 && table->skipped != 0) {
            throw std::invalid_argument("counters of a single part cannot be listed together");
        }
        std::size_t used = 0;
        while (table->slots[used].count != 0) {
            ++used;
        }
        kept_.push_back(used);
    }
    if (tables.size() > most_tables) {
        throw std::invalid_argument("there must be at most " + std::to_string(most_tables) +
                                    " counters, but there are " + std::to_string(tables.size()));
    }
}

std::size_t Ranges::ranges_of(std::span<Table* const> tables) noexcept {
    std::size_t slots = 0;
    for (const Table* table : tables) {
        slots += table->capacity;
    }
    return std::bit_ceil(std::max<std::size_t>(slots / range_slots, 2));
}

std::size_t Ranges::start(const Table& table, std::size_t range) const noexcept {
    if (range == size_) {
        return table.capacity;
    }
    return scaled(first_hash(range), table.capacity);
}

std::span<const Slot> Ranges::slots(std::size_t range, Scratch& scratch) const {
    if (tables_.size() == 1) {
        const std::size_t from = start(*tables_[0], range);
        return {tables_[0]->slots + from, start(*tables_[0], range + 1) - from};
    }
    const std::uint64_t last_hash = first_hash(range) + ((std::uint64_t{1} << (64 - bits_)) - 1);
    std::vector<Table::Walk> walks;
    std::size_t most = 1; // one remains empty
    for (const Table* table : tables_) {
        walks.push_back(table->walk(first_hash(range), last_hash));
        most += walks.back().length;
    }
    if (most > scratch.capacity) {
        scratch = {LargeBlock(most * sizeof(Slot)), most};
    } else {
        std::memset(scratch.block.data(), 0, most * sizeof(Slot));
    }
    const std::span<Slot> sums{static_cast<Slot*>(scratch.block.data()), most};
    for (std::size_t number = 0; number < tables_.size(); ++number) {
        const Table& table = *tables_[number];
        std::size_t at = walks[number].start;
        for (std::size_t i = 0; i < walks[number].length; ++i, at = table.after(at)) {
            Slot slot = table.slots[at];
            const std::uint64_t hash = hash_of(slot.key);
            if (slot.count == 0 || hash >> (64 - bits_) != range) {
                continue;
            }
            if (slot.key.high >= long_tag) {
                slot.key.high |= static_cast<std::uint64_t>(number) << place_bits;
            }
            add(slot, hash << bits_, sums);
        }
    }
    return sums;
}

/// Slots come in order of the hash, so that this walks memory in order too.
void Ranges::add(const Slot& slot, std::uint64_t hash, std::span<Slot> sums) const noexcept {
    const bool is_long = slot.key.high >= long_tag;
    std::size_t at = scaled(hash, sums.size());
    for (; sums[at].count != 0; at = at + 1 == sums.size() ? 0 : at + 1) {
        const Key& key = sums[at].key;
        if (key.low != slot.key.low) {
            continue;
        }
        if (is_long ? key.high >= long_tag && equal_long(text(sums[at]), text(slot))
                    : key.high == slot.key.high) {
            sums[at].count += slot.count;
            sums[at].first = std::min(sums[at].first, slot.first);
            return;
        }
    }
    sums[at] = slot;
}

void Ranges::release(std::size_t range) {
    if (keep_) {
        return;
    }
    finished_.note(range, [this](std::size_t from, std::size_t to) {
        for (std::size_t number = 0; number < tables_.size(); ++number) {
            Table& table = *tables_[number];
            const std::size_t begin = std::max(start(table, from), kept_[number]);
            table.block.discard(begin * sizeof(Slot), start(table, to) * sizeof(Slot));
        }
    });
}

} // namespace jogak
