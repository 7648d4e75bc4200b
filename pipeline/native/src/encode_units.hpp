// The units that no cache answers at once: looked up in the caches for longer results, merged, and
// put where they will be found again.
#pragma once

#include "encode_workspace.hpp"
#include "jogak/boundary_table.hpp"
#include "jogak/merge_table.hpp"

namespace jogak {

/// What is encoded by itself: a pretoken, or what cutting makes of one.
struct Unit {
    const std::uint8_t* bytes;
    std::size_t size;
    bool whole;  // a pretoken and not a part of one
    UnitKey key; // of a unit of up to 15 bytes
};

class UnitEncoder {
  public:
    /// `boundaries` may be null: units are merged from their bytes then.
    UnitEncoder(const MergeTable& table, const BoundaryTable* boundaries, Workspace& workspace)
        : table_(table), boundaries_(boundaries), work_(workspace) {}

    /// Asks for the cache lines in which a unit may be found.
    void prefetch(const Unit& unit) const noexcept;

    /// Appends the ids of a unit. Throws std::runtime_error when a byte has no token.
    void encode(const Unit& unit, std::vector<TokenId>& ids);

  private:
    void encode_cached(const Unit& unit, std::vector<TokenId>& ids);
    void encode_long(const Unit& unit, std::vector<TokenId>& ids);
    void merge(const Unit& unit, std::vector<TokenId>& ids);
    void write_ids(std::span<const Symbol> symbols, std::vector<TokenId>& ids) const;

    const MergeTable& table_;
    const BoundaryTable* boundaries_;
    Workspace& work_;
};

} // namespace jogak
