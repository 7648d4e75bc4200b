// The slots of the table of pretokens. Private to count.
#pragma once

#include "count_arena.hpp"
#include "jogak/count.hpp"

#include <memory>
#include <span>

namespace jogak {

struct Slot {
    Key key;
    Count count; // 0: empty
    std::uint64_t first;
};
static_assert(sizeof(Slot) == 32);

[[nodiscard]] inline std::uint64_t hash_of(const Key& key) noexcept {
    return key.high >= long_tag ? key.low : mix(key.low, key.high);
}

/// The text of a pretoken in a slot; what is longer than the slot lies in the arena.
[[nodiscard]] inline std::string_view text_of(const Slot& slot, const char* arena) noexcept {
    return slot.key.high >= long_tag
               ? long_text(slot.key, arena)
               : std::string_view{reinterpret_cast<const char*>(&slot.key),
                                  static_cast<std::size_t>(slot.key.high >> 56)};
}

/// Where a hash belongs among `capacity` slots: its top bits decide, for any capacity.
[[nodiscard]] inline std::size_t scaled(std::uint64_t hash, std::size_t capacity) noexcept {
    return static_cast<std::size_t>(static_cast<Wide>(hash) * capacity >> 64);
}

struct PretokenTable::Impl {
    static constexpr std::size_t initial_capacity = 1024;

    LargeBlock block;
    Slot* slots; // in the block
    std::size_t capacity = initial_capacity;
    unsigned skipped; // leading bits of the hash that the index leaves out
    std::size_t size = 0;
    Arena arena;
    std::uint64_t lowest = ~std::uint64_t{0}; // no first position is below it
    std::uint64_t highest = 0;                // nor above it
    double outlook = 0;                       // see PretokenTable::expect
    struct {
        double outlook = 0;
        std::size_t size = 1;
    } grown_at;

    explicit Impl(unsigned skip)
        : block(sizeof(Slot) * initial_capacity), slots(static_cast<Slot*>(block.data())),
          skipped(skip) {}

    /// How many slots of a table are used before it grows.
    static std::size_t most(std::size_t capacity) noexcept { return capacity / 8 * 5; }

    /// The capacity that a table grows to: by how much text there is still to come, as far as
    /// known.
    [[nodiscard]] std::size_t grown(std::size_t from) const noexcept;

    [[nodiscard]] std::size_t index(std::uint64_t hash) const noexcept {
        return scaled(hash << skipped, capacity);
    }

    [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
        return at + 1 == capacity ? 0 : at + 1;
    }

    /// Finds the slot of a pretoken, or the empty slot where it belongs.
    [[nodiscard]] Slot& probe(const Key& key, std::uint64_t hash,
                              std::string_view text) const noexcept {
        std::size_t at = index(hash);
        if (text.size() <= inline_bytes) {
            while (slots[at].count != 0 &&
                   (slots[at].key.low != key.low || slots[at].key.high != key.high)) {
                at = after(at);
            }
        } else {
            while (slots[at].count != 0 &&
                   (slots[at].key.low != key.low || slots[at].key.high < long_tag ||
                    !equal_long(long_text(slots[at].key, arena.data()), text))) {
                at = after(at);
            }
        }
        return slots[at];
    }

    static Key key_of(std::string_view text, const char* end) noexcept {
        if (text.size() <= inline_bytes) {
            return short_key(text.data(), text.size(), end);
        }
        return {long_hash(text.data(), text.size()), long_tag};
    }

    static constexpr std::size_t batch = 64;

    /// A pretoken of a batch, and where it stands in the text.
    struct Waiting {
        Key key;
        std::uint64_t hash;
        std::uint32_t start;
        std::uint32_t end;
    };

    /// Counts up to `batch` pretokens of a text; see PretokenTable::add.
    void add_batch(std::string_view text, std::size_t start, std::span<const std::uint32_t> ends,
                   std::uint64_t base);

    /// Inlined, as most pretokens are there already.
    [[gnu::always_inline]] void add(const Key& key, std::uint64_t hash, std::string_view text,
                                    Count count, std::uint64_t first) {
        Slot& slot = probe(key, hash, text);
        if (slot.count == 0) {
            insert(slot, key, hash, text, count, first);
            return;
        }
        slot.count += count;
        slot.first = std::min(slot.first, first);
    }

    /// Puts a pretoken that is not there yet where `probe` found room for it.
    [[gnu::noinline]] void insert(Slot& free, const Key& key, std::uint64_t hash,
                                  std::string_view text, Count count, std::uint64_t first);

    void grow();
    /// Puts a slot where it belongs, unless there is no room up to the end of the table.
    bool place(const Slot& slot) noexcept;

    /// Slots side by side, from `start` on; the first slot follows the last one.
    struct Walk {
        std::size_t start;
        std::size_t length;
    };

    /// Where pretokens lie whose hashes are in a range. Others lie there too. A pretoken that found
    /// its slot taken lies further on, so the walk ends at an empty slot.
    [[nodiscard]] Walk walk(std::uint64_t first_hash, std::uint64_t last_hash) const noexcept;
};

} // namespace jogak
