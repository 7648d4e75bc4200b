// count: distinct pretokens with their counts and first positions. Exact: equality is equality of
// bytes, counts are 64-bit sums, first positions minima, so that neither the order of additions nor
// their division among counters shows in the result.
#pragma once

#include "jogak/pretokenize.hpp"
#include "jogak/text.hpp"

#include <memory>
#include <vector>

namespace jogak {

/// What std::vector does without setting new items to 0: they are about to be written, by several
/// threads.
template <typename T> struct Uninitialized : std::allocator<T> {
    template <typename Other> struct rebind {
        using other = Uninitialized<Other>;
    };
    template <typename Item> void construct(Item* item) noexcept {
        ::new (static_cast<void*>(item)) Item;
    }
    template <typename Item, typename... Values> void construct(Item* item, Values&&... values) {
        ::new (static_cast<void*>(item)) Item(std::forward<Values>(values)...);
    }
};
template <typename T> using Column = std::vector<T, Uninitialized<T>>;

/// Distinct pretokens: number i is data[offsets[i], offsets[i + 1]), counted counts[i] times, first
/// seen at position first[i].
struct PretokenArrays {
    Column<std::uint8_t> data;
    Column<std::int64_t> offsets;
    Column<Count> counts;
    Column<std::uint64_t> first;
};

class Ranges;

/// An open-addressing table of pretokens. One thread at a time.
class PretokenTable {
  public:
    /// A table for pretokens of all parts, or one that also serves those of a single part, whose
    /// hashes begin alike; only the former yields its parts one by one.
    explicit PretokenTable(bool single_part = false);
    ~PretokenTable();
    PretokenTable(PretokenTable&&) noexcept;
    PretokenTable& operator=(PretokenTable&&) noexcept;

    /// Counts the pretokens of text[start, ends[last]) once each. Pretoken i ends at ends[i] in the
    /// text, ascending, and begins at the end of the one before (the first one at `start`); its
    /// position is base plus its beginning. Text of pretokens is copied, never referred to.
    /// Expected O(bytes).
    void add(std::string_view text, std::size_t start, std::span<const std::uint32_t> ends,
             std::uint64_t base);

    /// Adds `count` occurrences (at least 1) of one non-empty pretoken, first seen at `first`.
    void add(std::string_view pretoken, Count count, std::uint64_t first);

    /// Says how many times as much text is expected as was counted so far; 0: nobody knows. A
    /// table then grows to what it will need, as far as one can tell, instead of twice its size.
    void expect(double outlook) noexcept;

    /// Adds everything another table holds. Walks both in order of the hash.
    void merge(const PretokenTable& other);

    /// The first position of a pretoken, or `absent` where it was never added.
    [[nodiscard]] std::uint64_t find(std::string_view pretoken,
                                     std::uint64_t absent) const noexcept;

    /// The number of distinct pretokens.
    [[nodiscard]] std::size_t size() const noexcept;

    /// Bytes held: slots and the text of long pretokens.
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

    /// Bytes needed besides memory_bytes() while another `pretokens` distinct ones are added: 0
    /// where the table need not grow.
    [[nodiscard]] std::size_t growth_bytes(std::size_t pretokens) const noexcept;

    /// Everything that tables hold together, by count descending, then by first position, then by
    /// bytes; made by so many threads. Unless `keep`, the tables are emptied, and give their memory
    /// back on the way. O(n). Throws std::invalid_argument for several tables of a single part.
    [[nodiscard]] static PretokenArrays sorted(std::span<PretokenTable* const> tables,
                                               unsigned threads, bool keep);

    /// The pretokens whose hash begins with the bits of `part`, below 2^part_bits; in no order, but
    /// the same pretoken is in the same part of every table. O(n / 2^part_bits).
    [[nodiscard]] PretokenArrays part(std::size_t part) const;

    static constexpr unsigned part_bits = 6;

  private:
    friend class Ranges;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// How far documents are counted: what is left begins at byte `start` of document `document`, and
/// at number `end` of the ends, where ends are given.
struct CountedUpTo {
    std::size_t document = 0;
    std::size_t start = 0;
    std::size_t end = 0;
};

/// Counts documents into one table per language. One thread at a time.
class PretokenCounter {
  public:
    /// `single_part`: see PretokenTable.
    explicit PretokenCounter(bool single_part = false) : single_part_(single_part) {}

    /// Counts the pretokens that `scanner` finds. languages[i], at least 0, is the table of
    /// document i. The position of a pretoken is base plus its offset from offsets[0] in the data.
    /// Stops before the tables would hold more than limit_bytes, unless they are empty; the caller
    /// then takes what they hold, clears them, and calls again with the place returned.
    /// Throws std::invalid_argument for a document of 2^32 bytes or more.
    CountedUpTo add(const Scanner& scanner, const Documents& documents,
                    std::span<const std::int32_t> languages, std::uint64_t base, CountedUpTo from,
                    std::size_t limit_bytes);

    /// The same for pretokens found elsewhere: `ends` are offsets into data, ascending, and the end
    /// of every document that is not empty is among them; else throws std::invalid_argument.
    CountedUpTo add_ends(const Documents& documents, std::span<const std::int64_t> ends,
                         std::span<const std::int32_t> languages, std::uint64_t base,
                         CountedUpTo from, std::size_t limit_bytes);

    /// Adds everything another counter holds.
    void merge(const PretokenCounter& other);

    /// Forgets everything counted and frees its memory.
    void clear() noexcept { tables_.clear(); }

    /// Says how much text is going to be counted, about; 0: nobody knows.
    void expect(std::size_t text_bytes) noexcept { expected_bytes_ = text_bytes; }

    /// The table of one language, made where it does not exist yet.
    [[nodiscard]] PretokenTable& table(std::int32_t language);

    /// The number of tables: the highest language seen plus one.
    [[nodiscard]] std::size_t languages() const noexcept { return tables_.size(); }

    /// Pretokens of a language found in documents so far, repetitions included; clear() leaves it.
    [[nodiscard]] Count pretokens(std::int32_t language) const noexcept;

    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    void note(std::int32_t language, Count pretokens);
    [[nodiscard]] bool is_full(const PretokenTable& table, std::size_t limit_bytes) const noexcept;

    bool single_part_;
    std::size_t expected_bytes_ = 0;
    std::size_t counted_bytes_ = 0;
    std::vector<PretokenTable> tables_;
    std::vector<Count> pretokens_; // by language
};

} // namespace jogak
