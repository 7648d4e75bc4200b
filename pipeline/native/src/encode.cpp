#include "jogak/encode.hpp"

#include "encode_pass.hpp"
#include "encode_workspace.hpp"
#include "jogak/boundary_table.hpp"
#include "jogak/merge_table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

/// Measured on 10 MB of text after 20 MB of the same kind: with a vocabulary of many languages cuts
/// leave few distinct units, and English has some 100,000, for which 10 MB are enough; one trained
/// on Korean has tokens across nearly every boundary, so whole words must be kept, and 30 MB are
/// half as fast again as 6 MB.
constexpr CacheSizes general_sizes{std::size_t{1} << 17, std::size_t{3} << 16,
                                   std::size_t{1} << 14};
constexpr CacheSizes korean_sizes{std::size_t{1} << 18, std::size_t{1} << 19, std::size_t{1} << 17};
constexpr std::size_t korean_merges = 8192;

CacheSizes choose_sizes(const EncoderOptions& options, const BoundaryTable* boundaries) {
    const bool korean = boundaries != nullptr && boundaries->hangul_merges() >= korean_merges;
    const CacheSizes usual = korean ? korean_sizes : general_sizes;
    const auto pick = [](std::size_t asked, std::size_t chosen, std::size_t least = 2) {
        return asked == 0 ? chosen : std::bit_ceil(std::max(asked, least));
    };
    return {pick(options.short_slots, usual.short_slots, 4),
            pick(options.narrow_slots, usual.narrow_slots),
            pick(options.wide_slots, usual.wide_slots)};
}

constexpr std::size_t longest_document = 0xFFFFFFFF;

void check_documents(const Documents& documents) {
    for (std::size_t i = 0; i < documents.size(); ++i) {
        if (documents[i].size() > longest_document) {
            throw std::invalid_argument("encode: document " + std::to_string(i) + " has " +
                                        std::to_string(documents[i].size()) +
                                        " bytes; the most is 2^32 - 1");
        }
    }
}

[[noreturn]] void fail_ends(std::size_t document) {
    throw std::invalid_argument("encode: the ends of pretokens do not fit document " +
                                std::to_string(document) +
                                ": they must ascend and end where the document does");
}

} // namespace

struct Encoder::State {
    State(const BpeVocabulary& vocabulary, const EncoderOptions& options)
        : table(vocabulary),
          boundaries(options.cutting ? std::make_unique<BoundaryTable>(
                                           table, vocabulary, choose_find_cuts(""),
                                           std::clamp<std::size_t>(options.most_classes, 2,
                                                                   std::size_t{1} << 14))
                                     : nullptr),
          kernels(choose_unit_kernels("")),
          pool(choose_sizes(options, boundaries.get()), draw_seed()) {}

    MergeTable table;
    std::unique_ptr<BoundaryTable> boundaries; // null: no cutting
    const UnitKernels& kernels;
    WorkspacePool pool;
};

Encoder::Encoder(const BpeVocabulary& vocabulary, const EncoderOptions& options)
    : state_(std::make_unique<State>(vocabulary, options)) {}
Encoder::~Encoder() = default;

EncodedDocuments Encoder::encode(const Documents& documents, const Scanner& scanner) const {
    check_documents(documents);
    const Lease lease(state_->pool);
    Pass pass(state_->table, state_->boundaries.get(), state_->kernels, *lease, documents);
    for (std::size_t i = 0; i < documents.size(); ++i) {
        pass.add_document(documents[i], static_cast<std::size_t>(documents.offsets[i]), scanner);
        pass.end_document();
    }
    return pass.finish();
}

EncodedDocuments Encoder::encode(const Documents& documents,
                                 std::span<const std::int64_t> ends) const {
    check_documents(documents);
    const Lease lease(state_->pool);
    Pass pass(state_->table, state_->boundaries.get(), state_->kernels, *lease, documents);
    std::size_t next = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        std::int64_t begin = documents.offsets[i];
        const std::int64_t stop = documents.offsets[i + 1];
        while (begin < stop) {
            if (next == ends.size() || ends[next] <= begin || ends[next] > stop) {
                fail_ends(i);
            }
            begin = ends[next++];
            pass.add(static_cast<std::size_t>(begin));
        }
        pass.end_document();
    }
    if (next != ends.size()) {
        fail_ends(documents.size());
    }
    return pass.finish();
}

bool Encoder::cutting() const noexcept { return state_->boundaries != nullptr; }

std::vector<std::uint64_t> Encoder::cuts(std::span<const std::uint8_t> text, std::size_t begin,
                                         std::size_t size, const char* isa) const {
    if (begin > text.size() || size > text.size() - begin) {
        throw std::invalid_argument("cuts: the range lies outside the text");
    }
    std::vector<std::uint64_t> bits((size + 63) / 64);
    if (state_->boundaries != nullptr) {
        choose_find_cuts(isa)(state_->boundaries->cut_tables(), text.data(), text.size(), begin,
                              size, bits.data());
    }
    return bits;
}

std::size_t Encoder::shared_bytes() const noexcept {
    return state_->table.memory_bytes() +
           (state_->boundaries ? state_->boundaries->memory_bytes() : 0);
}

std::size_t Encoder::thread_bytes() const noexcept {
    return UnitCache::memory_bytes(state_->pool.sizes()) + LongUnits::memory_bytes() +
           sizeof(Workspace);
}

} // namespace jogak
