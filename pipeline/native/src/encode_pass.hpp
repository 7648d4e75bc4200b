// One call of encode: pretokens come in, ids go out, window by window.
#pragma once

#include "encode_workspace.hpp"
#include "jogak/boundary_table.hpp"
#include "jogak/encode.hpp"
#include "jogak/merge_table.hpp"

namespace jogak {

/// What is encoded by itself: a pretoken, or what cutting makes of one.
struct Unit {
    const std::uint8_t* bytes;
    std::size_t size;
    bool whole; // a pretoken and not a part of one
};

class Pass {
  public:
    /// `boundaries` may be null: no cutting then.
    Pass(const MergeTable& table, const BoundaryTable* boundaries, Workspace& workspace,
         const Documents& documents);

    /// Takes the next pretokens, given by their ends as offsets from `origin` in the data.
    void add(std::size_t origin, std::span<const std::uint32_t> ends) {
        for (const std::uint32_t end : ends) {
            add(origin + end);
        }
    }
    void add(std::size_t end) {
        reach(end);
        work_.pretoken_bits[(end - base_) / 64] |= std::uint64_t{1} << ((end - base_) % 64);
    }

    /// Ends a document, all of whose pretokens have been added.
    void end_document(std::size_t end) {
        reach(end);
        work_.document_ends.push_back(static_cast<std::uint32_t>(end - base_));
    }

    [[nodiscard]] EncodedDocuments finish();

  private:
    /// Moves on to the window in which `position` lies.
    void reach(std::size_t position) {
        while (position - base_ >= window_bytes) {
            flush();
        }
    }

    void flush();
    void find_starts() noexcept;
    void prepare() noexcept;
    void emit(std::size_t first, std::size_t last);
    void emit_unit(const Unit& unit);
    [[nodiscard]] std::size_t starts_up_to(std::size_t position) const noexcept;
    [[nodiscard]] bool is_whole(std::size_t unit) const noexcept;
    [[nodiscard]] std::array<std::uint64_t, 2> narrow_key_at(std::size_t begin,
                                                             std::size_t size) const noexcept;
    [[nodiscard]] TokenId* encode_narrow(const Unit& unit, NarrowSlot* set,
                                         const std::array<std::uint64_t, 2>& key, TokenId* out);
    [[nodiscard]] TokenId* encode_wide(const Unit& unit, TokenId* out);
    [[nodiscard]] TokenId* encode_short(const Unit& unit, TokenId* out) const;
    void encode_long(const Unit& unit);
    [[nodiscard]] bool is_cacheable(const Unit& unit) const noexcept;
    [[nodiscard]] TokenId* write_ids(std::span<const Symbol> symbols, TokenId* out) const;

    const MergeTable& table_;
    const BoundaryTable* boundaries_;
    Workspace& work_;
    const std::uint8_t* data_;
    std::size_t data_end_;
    std::size_t base_;       // the window's first byte
    std::size_t unit_start_; // where the unit starts that no boundary has ended yet
    bool unit_starts_pretoken_ = true;
    std::size_t count_ = 0; // boundaries in the window
    EncodedDocuments result_;
};

} // namespace jogak
