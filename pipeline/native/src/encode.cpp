#include "jogak/encode.hpp"

#include "jogak/merge_kernel.hpp"
#include "jogak/merge_table.hpp"
#include "jogak/unit_cache.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

/// Units are looked up in groups: keys and prefetches first, then the probes.
constexpr std::size_t group_size = 768;
/// A group is closed at this many bytes, so that offsets in it stay small.
constexpr std::size_t group_bytes = std::size_t{1} << 20;

CacheSizes choose_sizes(const EncoderOptions& options) {
    const auto pick = [](std::size_t asked, std::size_t usual) {
        return std::bit_ceil(std::max<std::size_t>(asked == 0 ? usual : asked, 2));
    };
    return {pick(options.narrow_slots, std::size_t{1} << 17),
            pick(options.wide_slots, std::size_t{1} << 15)};
}

HashSeed draw_seed() {
    std::random_device source;
    const auto draw = [&source] { return static_cast<std::uint64_t>(source()) << 32 | source(); };
    return {draw(), draw()};
}

/// What one call of encode has to itself; kept in a pool between calls.
struct Workspace {
    Workspace(const CacheSizes& sizes, const HashSeed& seed) : cache(sizes, seed) {}

    UnitCache cache;
    MergeScratch scratch;
    /// Where units start, from the start of the group; one more for the end of the last.
    std::array<std::uint32_t, group_size + 1> starts{};
    std::array<std::uint32_t, group_size> document_ends;
    std::array<std::array<std::uint64_t, 2>, group_size> keys;
    std::array<NarrowSlot*, group_size> sets;
};

/// Workspaces of calls that have ended, for the calls to come: as many as calls ran at once.
class WorkspacePool {
  public:
    explicit WorkspacePool(const CacheSizes& sizes) : sizes_(sizes), seed_(draw_seed()) {}

    [[nodiscard]] std::unique_ptr<Workspace> take() {
        {
            const std::scoped_lock lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Workspace> workspace = std::move(idle_.back());
                idle_.pop_back();
                return workspace;
            }
        }
        return std::make_unique<Workspace>(sizes_, seed_);
    }
    void give_back(std::unique_ptr<Workspace> workspace) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(workspace));
    }
    [[nodiscard]] const CacheSizes& sizes() const noexcept { return sizes_; }

  private:
    const CacheSizes sizes_;
    const HashSeed seed_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

/// A workspace out of the pool, given back however the call ends.
class Lease {
  public:
    explicit Lease(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(workspace_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] Workspace& operator*() const noexcept { return *workspace_; }

  private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
};

/// One call of encode: collects pretokens into groups and encodes the groups.
class Pass {
  public:
    Pass(const MergeTable& table, Workspace& workspace, const Documents& documents)
        : table_(table), work_(workspace), data_(documents.data.data()),
          data_size_(documents.data.size()) {
        result_.document_ends.reserve(documents.size());
        const auto bytes =
            static_cast<std::size_t>(documents.offsets.back() - documents.offsets.front());
        // Most texts have 3-5 bytes to a token; a buffer that is too small grows by half.
        static_cast<void>(result_.ids.reserve(bytes / 3 + 64));
        base_ = static_cast<std::size_t>(documents.offsets.front());
    }

    /// Offsets in a group have 32 bits: a large document starts a group of its own.
    void begin_document(std::size_t size) {
        if (size > std::numeric_limits<std::uint32_t>::max() / 2) {
            flush();
        }
    }

    /// Takes the next pretokens, given by their ends as offsets from `origin` in the data.
    void add(std::size_t origin, std::span<const std::uint32_t> ends) {
        for (const std::uint32_t end : ends) {
            const std::size_t absolute = origin + end;
            work_.starts[++count_] = static_cast<std::uint32_t>(absolute - base_);
            if (count_ == group_size || absolute - base_ > group_bytes) {
                flush();
            }
        }
    }

    void end_document() {
        if (documents_ == work_.document_ends.size()) {
            flush();
        }
        work_.document_ends[documents_++] = static_cast<std::uint32_t>(count_);
    }

    void flush() {
        prepare();
        std::size_t unit = 0;
        for (std::size_t document = 0; document < documents_; ++document) {
            emit(unit, work_.document_ends[document]);
            unit = work_.document_ends[document];
            result_.document_ends.push_back(static_cast<std::int64_t>(result_.ids.size()));
        }
        emit(unit, count_);
        base_ += work_.starts[count_];
        count_ = 0;
        documents_ = 0;
    }

    [[nodiscard]] EncodedDocuments finish() {
        flush();
        result_.ids.shrink();
        return std::move(result_);
    }

  private:
    void prepare() noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            const std::size_t begin = base_ + work_.starts[i];
            const std::size_t size = work_.starts[i + 1] - work_.starts[i];
            if (size <= longest_narrow) {
                work_.keys[i] = key(begin, size);
                work_.sets[i] = work_.cache.narrow_set(work_.keys[i]);
                __builtin_prefetch(work_.sets[i]);
            }
        }
    }

    [[nodiscard]] std::array<std::uint64_t, 2> key(std::size_t begin, std::size_t size) noexcept {
        if (begin + 16 <= data_size_) {
            return narrow_key(data_ + begin, size);
        }
        std::array<std::uint8_t, 16> padded{};
        std::memcpy(padded.data(), data_ + begin, size);
        return narrow_key(padded.data(), size);
    }

    void emit(std::size_t first, std::size_t last) {
        TokenId* out = result_.ids.reserve((last - first) * most_narrow_ids);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t size = work_.starts[i + 1] - work_.starts[i];
            if (size <= longest_narrow) {
                if (const NarrowSlot* slot = UnitCache::find(work_.sets[i], work_.keys[i])) {
                    out += UnitCache::emit(*slot, out);
                    continue;
                }
            }
            result_.ids.commit(out);
            const std::span<const TokenId> ids = encode_unit(i);
            out = result_.ids.reserve(ids.size() + (last - i) * most_narrow_ids);
            out = std::copy(ids.begin(), ids.end(), out);
        }
        result_.ids.commit(out);
    }

    /// A unit that the narrow cache does not hold. The result is valid until the next call.
    [[nodiscard]] std::span<const TokenId> encode_unit(std::size_t unit) {
        const std::uint8_t* begin = data_ + base_ + work_.starts[unit];
        const std::size_t size = work_.starts[unit + 1] - work_.starts[unit];
        if (table_.has_unmerged()) {
            if (const TokenId id = table_.find_unmerged({begin, size}); id != no_token) {
                work_.scratch.symbols.assign(1, id);
                return {work_.scratch.symbols.data(), 1};
            }
        }
        // Fewer bytes cannot give more ids than a narrow slot holds.
        if (size <= most_narrow_ids || size > longest_wide) {
            const std::span<const TokenId> ids = merge({begin, size});
            if (size <= longest_narrow) {
                static_cast<void>(UnitCache::insert(work_.sets[unit], work_.keys[unit], ids));
            }
            return ids;
        }
        const auto long_key = wide_key(begin, size);
        WideSlot* set = work_.cache.wide_set(long_key);
        if (const WideSlot* slot = UnitCache::find(set, long_key)) {
            work_.scratch.symbols.resize(std::max(work_.scratch.symbols.size(), most_wide_ids));
            return {work_.scratch.symbols.data(),
                    UnitCache::emit(*slot, work_.scratch.symbols.data())};
        }
        const std::span<const TokenId> ids = merge({begin, size});
        if (size > longest_narrow || !UnitCache::insert(work_.sets[unit], work_.keys[unit], ids)) {
            static_cast<void>(UnitCache::insert(set, long_key, ids));
        }
        return ids;
    }

    [[nodiscard]] std::span<const TokenId> merge(std::span<const std::uint8_t> bytes) {
        std::vector<Symbol>& symbols = work_.scratch.symbols;
        symbols.assign(bytes.begin(), bytes.end());
        std::size_t count = bytes.size();
        if (count <= longest_scanned) {
            std::array<Symbol, longest_scanned> joined;
            count = merge_by_scan(table_, symbols.data(), joined.data(), count);
        } else {
            count = merge_by_queue(table_, symbols.data(), count, work_.scratch);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const TokenId id = table_.token(symbols[i]);
            if (id == no_token) {
                throw std::runtime_error("encode: the vocabulary has no token for byte " +
                                         std::to_string(symbols[i]));
            }
            symbols[i] = id;
        }
        return {symbols.data(), count};
    }

    const MergeTable& table_;
    Workspace& work_;
    const std::uint8_t* data_;
    std::size_t data_size_;
    std::size_t base_ = 0;      // where the group starts in the data
    std::size_t count_ = 0;     // units of the group
    std::size_t documents_ = 0; // document ends in the group
    EncodedDocuments result_;
};

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
        : table(vocabulary), pool(choose_sizes(options)) {}

    const MergeTable table;
    mutable WorkspacePool pool;
};

Encoder::Encoder(const BpeVocabulary& vocabulary, const EncoderOptions& options)
    : state_(std::make_unique<State>(vocabulary, options)) {}
Encoder::~Encoder() = default;

EncodedDocuments Encoder::encode(const Documents& documents, const Scanner& scanner) const {
    check_documents(documents);
    const Lease lease(state_->pool);
    Pass pass(state_->table, *lease, documents);
    std::array<std::uint32_t, group_size> ends;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::string_view text = documents[i];
        const auto origin = static_cast<std::size_t>(documents.offsets[i]);
        pass.begin_document(text.size());
        for (std::size_t start = 0; start < text.size();) {
            const std::size_t found = scanner.scan(text, start, ends.data(), ends.size());
            pass.add(origin, {ends.data(), found});
            start = ends[found - 1];
        }
        pass.end_document();
    }
    return pass.finish();
}

EncodedDocuments Encoder::encode(const Documents& documents,
                                 std::span<const std::int64_t> ends) const {
    check_documents(documents);
    const Lease lease(state_->pool);
    Pass pass(state_->table, *lease, documents);
    std::size_t next = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        std::int64_t begin = documents.offsets[i];
        const std::int64_t stop = documents.offsets[i + 1];
        pass.begin_document(static_cast<std::size_t>(stop - begin));
        while (begin < stop) {
            if (next == ends.size() || ends[next] <= begin || ends[next] > stop) {
                fail_ends(i);
            }
            const auto end = static_cast<std::uint32_t>(ends[next] - documents.offsets[i]);
            pass.add(static_cast<std::size_t>(documents.offsets[i]), {&end, 1});
            begin = ends[next++];
        }
        pass.end_document();
    }
    if (next != ends.size()) {
        fail_ends(documents.size());
    }
    return pass.finish();
}

bool Encoder::cutting() const noexcept { return false; }

std::size_t Encoder::shared_bytes() const noexcept { return state_->table.memory_bytes(); }

std::size_t Encoder::thread_bytes() const noexcept {
    return UnitCache::memory_bytes(state_->pool.sizes()) + sizeof(Workspace);
}

} // namespace jogak
