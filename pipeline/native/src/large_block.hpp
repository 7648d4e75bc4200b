// Memory of large arrays that are read at random places. Private to count and train.
#pragma once

#include <cstddef>
#include <utility>

namespace jogak {

/// A block of memory that grows and shrinks. A large one comes from the system and goes back to it
/// at once: left to malloc, what one stage has freed stays in the process while the next one asks
/// for more. It grows by moving pages instead of bytes, and pages that were never touched cost
/// nothing. Large pages are asked for: a miss of the address cache costs as much as one of the
/// data cache.
class LargeBlock {
  public:
    enum class Pages { large, small };

    LargeBlock() = default;
    /// Zeroed. Throws std::bad_alloc, as resize() does. Small pages suit a block that is filled at
    /// many places at once, of which a large page at each would be there from the beginning.
    explicit LargeBlock(std::size_t bytes, Pages pages = Pages::large);
    ~LargeBlock();
    LargeBlock(LargeBlock&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    LargeBlock& operator=(LargeBlock&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    [[nodiscard]] void* data() const noexcept { return data_; }

    /// Keeps what is in the block, as far as it still has room; what is added is not zeroed.
    void resize(std::size_t bytes);

    /// The same, but what is added is zeroed and there at once, and large pages stay whole. Throws
    /// as resize() does.
    void extend(std::size_t bytes);

    /// Whether extend() moves pages, so that what was there is never in memory twice.
    [[nodiscard]] bool moves_pages() const noexcept;

    /// Gives back what lies in [begin, end), as far as these are whole pages; it reads as zeros or
    /// as it was.
    void discard(std::size_t begin, std::size_t end) noexcept;

  private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Asks for large pages in memory that comes from elsewhere and was not touched yet.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// Gives back to the system what malloc holds and nobody uses, where malloc can do that: after a
/// stage that freed many blocks of many sizes.
void give_back_memory() noexcept;

} // namespace jogak
