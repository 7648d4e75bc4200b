// One call of encode: pretokens come in, ids go out, window by window.
#pragma once

#include "encode_units.hpp"
#include "jogak/encode.hpp"

namespace jogak {

class Pass {
  public:
    /// `boundaries` may be null: no cutting then.
    Pass(const MergeTable& table, const BoundaryTable* boundaries, const UnitKernels& kernels,
         Workspace& workspace, const Documents& documents);

    /// Takes the pretokens of the next document, cut by a scanner.
    void add_document(std::string_view text, std::size_t origin, const Scanner& scanner);

    /// Takes the next pretoken, given by its end in the data.
    void add(std::size_t end);

    /// Ends a document, all of whose pretokens have been added.
    void end_document() {
        work_.document_ends.push_back(static_cast<std::uint32_t>(position_ - base_));
    }

    [[nodiscard]] EncodedDocuments finish();

  private:
    void add_by_masks(std::string_view text, std::size_t origin, const Scanner& scanner);
    void add_long(std::size_t end);
    void encode_apart(std::size_t begin, std::size_t end, bool whole);
    void flush();
    void find_units(std::size_t size);
    void encode_units(std::size_t size);
    void insert_missed(std::span<const MissedUnit> missed, const TokenId* end);
    [[nodiscard]] Unit unit(std::size_t index) const noexcept;
    [[nodiscard]] std::size_t unit_at(std::size_t place) const noexcept;
    [[nodiscard]] bool is_pretoken_end(std::size_t place) const noexcept;

    const BoundaryTable* boundaries_;
    const UnitKernels& kernels_;
    Workspace& work_;
    UnitEncoder encoder_;
    const std::uint8_t* data_;
    std::size_t data_end_;
    // The window goes from one to the other; both are ends of pretokens.
    std::size_t base_;
    std::size_t position_;
    bool beyond_ascii_ = false;
    bool is_looked_at_ = true; // whether beyond_ascii_ tells of all of the window
    // The units of the window: where they start, as bits, and how many.
    const std::uint64_t* units_ = nullptr;
    std::size_t count_ = 0;
    EncodedDocuments result_;
};

} // namespace jogak
