// count: distinct pretokens with their counts and first positions. Exact: equality is equality of
// bytes, counts are 64-bit sums, first positions minima, so that neither the order of additions nor
// their division among counters shows in the result.
#pragma once

#include "jogak/pretokenize.hpp"
#include "jogak/text.hpp"

#include <memory>
#include <vector>

namespace jogak {

/// Distinct pretokens: number i is data[offsets[i], offsets[i + 1]), counted counts[i] times, first
/// seen at position first[i].
struct PretokenArrays {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> offsets;
    std::vector<Count> counts;
    std::vector<std::uint64_t> first;
};

/// An open-addressing table of pretokens. One thread at a time.
class PretokenTable {
  public:
    PretokenTable();
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

    /// The first position of a pretoken, or `absent` where it was never added.
    [[nodiscard]] std::uint64_t find(std::string_view pretoken,
                                     std::uint64_t absent) const noexcept;

    /// The number of distinct pretokens.
    [[nodiscard]] std::size_t size() const noexcept;

    /// Bytes held: slots and the text of long pretokens.
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

    /// Everything added, by count descending, then by first position, then by bytes. O(n).
    [[nodiscard]] PretokenArrays sorted() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Counts documents into one table per language. One thread at a time.
class PretokenCounter {
  public:
    /// Counts the pretokens that `scanner` finds. languages[i], at least 0, is the table of
    /// document i. The position of a pretoken is base plus its offset from offsets[0] in the data.
    /// Throws std::invalid_argument for a document of 2^32 bytes or more.
    void add(const Scanner& scanner, const Documents& documents,
             std::span<const std::int32_t> languages, std::uint64_t base);

    /// The same for pretokens found elsewhere: `ends` are offsets into data, ascending, and the end
    /// of every document that is not empty is among them; else throws std::invalid_argument.
    void add_ends(const Documents& documents, std::span<const std::int64_t> ends,
                  std::span<const std::int32_t> languages, std::uint64_t base);

    /// The table of one language, made where it does not exist yet.
    [[nodiscard]] PretokenTable& table(std::int32_t language);

    /// The number of tables: the highest language seen plus one.
    [[nodiscard]] std::size_t languages() const noexcept { return tables_.size(); }

    /// Pretokens counted so far, repetitions included.
    [[nodiscard]] Count pretokens() const noexcept { return pretokens_; }

    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    std::vector<PretokenTable> tables_;
    Count pretokens_ = 0;
};

} // namespace jogak
