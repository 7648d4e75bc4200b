// What several tables hold, added up range by range of the hash. Private to count.
#pragma once

#include "count_slots.hpp"
#include "parallel.hpp"

#include <vector>

namespace jogak {

/// Divides the slots of tables into ranges. Of several tables a range is one of hashes, which in
/// each table is a walk; of a single table it is some slots as they lie there. Different ranges may
/// be visited by different threads.
class Ranges {
  public:
    using Table = PretokenTable::Impl;

    /// Unless `keep`, ranges that were released lose their memory. Throws std::invalid_argument for
    /// more tables than a slot can tell apart, and for several that leave out bits of the hash.
    Ranges(std::span<Table* const> tables, bool keep);

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Memory in which a thread adds up one range after the other.
    struct Scratch {
        LargeBlock block;
        std::size_t capacity = 0;
    };

    /// The slots of a range, some of them empty; each pretoken once, its key with the number of a
    /// table that has its text. They stay until the scratch is used again.
    [[nodiscard]] std::span<const Slot> slots(std::size_t range, Scratch& scratch) const;

    /// Says that a range is not needed any more.
    void release(std::size_t range);

    [[nodiscard]] std::string_view text(const Slot& slot) const noexcept {
        return text_of(slot, slot.key.high >= long_tag ? arena(slot.key) : nullptr);
    }
    /// Where the text of a long pretoken lies.
    [[nodiscard]] const char* arena(const Key& key) const noexcept {
        return tables_[table_of(key)]->arena.data();
    }

  private:
    [[nodiscard]] static std::size_t ranges_of(std::span<Table* const> tables) noexcept;
    [[nodiscard]] std::uint64_t first_hash(std::size_t range) const noexcept {
        return static_cast<std::uint64_t>(range) << (64 - bits_);
    }
    [[nodiscard]] std::size_t start(const Table& table, std::size_t range) const noexcept;
    void add(const Slot& slot, std::uint64_t hash, std::span<Slot> sums) const noexcept;

    std::span<Table* const> tables_;
    bool keep_;
    std::size_t size_; // a power of two
    unsigned bits_;    // that are equal in a range
    /// By table, how many slots stay to the end: what found no room at the end of the table lies
    /// at its beginning. Nothing else is read from before a range.
    std::vector<std::size_t> kept_;
    Finished finished_;
};

} // namespace jogak
