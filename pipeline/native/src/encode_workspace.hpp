// What one call of encode has to itself, and the pool that keeps it between calls.
#pragma once

#include "jogak/long_units.hpp"
#include "jogak/merge_kernel.hpp"
#include "jogak/unit_cache.hpp"
#include "jogak/unit_kernel.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace jogak {

/// Text is encoded by windows: bits for its boundaries, then its units, fit the first-level cache.
inline constexpr std::size_t window_bytes = 4096;

/// Where a document's end is among the ids of hits, and among the units missed.
struct ProbedEnd {
    const TokenId* ids;
    const MissedUnit* missed;
};

struct Workspace {
    Workspace(const CacheSizes& sizes, const HashSeed& seed)
        : cache(sizes, seed), long_units(seed) {}

    UnitCache cache;
    LongUnits long_units;
    MergeScratch scratch;

    /// Bit i: a pretoken starts at the window's byte i; up to the byte behind the window, and a
    /// word that the kernels may write to. The same for units, where some are parts of pretokens.
    std::array<std::uint64_t, window_bytes / 64 + 2> pretoken_bits{};
    std::array<std::uint64_t, window_bytes / 64 + 1> unit_bits;
    /// The same as numbers, and how many lie before each word; room for a kernel's last stride.
    std::array<std::uint16_t, window_bytes + 1 + 64> starts;
    std::array<std::uint16_t, window_bytes / 64 + 1> starts_before;
    std::array<UnitKey, window_bytes> keys;
    std::array<char*, window_bytes> sets;
    std::array<MissedUnit, window_bytes> missed;
    /// The ids of missed units, back to back, and how many there are up to each one's end.
    std::vector<TokenId> missed_ids;
    std::vector<std::size_t> missed_ends;
    /// Where documents end, from the window's first byte, and how far their ids went.
    std::vector<std::uint32_t> document_ends;
    std::vector<ProbedEnd> probed_ends;
    /// The window once more, where loads of 16 bytes would go beyond the data.
    std::array<std::uint8_t, window_bytes + 16> tail;
};

/// Workspaces of calls that have ended, for the calls to come: as many as calls ran at once.
class WorkspacePool {
  public:
    WorkspacePool(const CacheSizes& sizes, const HashSeed& seed) : sizes_(sizes), seed_(seed) {}

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
        workspace->pretoken_bits.fill(0);
        workspace->document_ends.clear();
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

} // namespace jogak
