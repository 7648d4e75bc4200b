// The slots of the table of pretokens. Private to count.
#pragma once

#include "count_key.hpp"
#include "jogak/count.hpp"
#include "large_block.hpp"

#include <memory>
#include <span>

namespace jogak {

constexpr unsigned initial_bits = 10;

struct Slot {
    Key key;
    Count count; // 0: empty
    std::uint64_t first;
};
static_assert(sizeof(Slot) == 32);

struct PretokenTable::Impl {
    LargeBlock block;
    Slot* slots; // in the block
    unsigned bits = initial_bits;
    unsigned skipped; // leading bits of the hash that the index leaves out
    std::size_t size = 0;
    std::vector<char> arena; // each long pretoken: its length (4 bytes), then its text

    explicit Impl(unsigned skip)
        : block(sizeof(Slot) << initial_bits), slots(static_cast<Slot*>(block.data())),
          skipped(skip) {}

    [[nodiscard]] std::size_t capacity() const noexcept { return std::size_t{1} << bits; }

    /// How many slots of a table are used before it grows.
    static std::size_t most(std::size_t capacity) noexcept { return capacity / 8 * 5; }

    [[nodiscard]] std::size_t index(std::uint64_t hash) const noexcept {
        return static_cast<std::size_t>(hash << skipped >> (64 - bits));
    }

    static std::uint64_t hash_of(const Key& key) noexcept {
        return key.high >= long_tag ? key.low : mix(key.low, key.high);
    }

    [[nodiscard]] std::string_view long_text(const Key& key) const noexcept {
        const char* entry = arena.data() + (key.high - long_tag);
        std::uint32_t length;
        std::memcpy(&length, entry, sizeof length);
        return {entry + sizeof length, length};
    }

    /// Finds the slot of a pretoken, or the empty slot where it belongs.
    [[nodiscard]] Slot& probe(const Key& key, std::uint64_t hash,
                              std::string_view text) const noexcept {
        const std::size_t mask = capacity() - 1;
        std::size_t at = index(hash);
        if (text.size() <= inline_bytes) {
            while (slots[at].count != 0 &&
                   (slots[at].key.low != key.low || slots[at].key.high != key.high)) {
                at = (at + 1) & mask;
            }
        } else {
            while (slots[at].count != 0 &&
                   (slots[at].key.low != key.low || slots[at].key.high < long_tag ||
                    long_text(slots[at].key) != text)) {
                at = (at + 1) & mask;
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

    void add(Key key, std::uint64_t hash, std::string_view text, Count count, std::uint64_t first) {
        Slot* slot = &probe(key, hash, text);
        if (slot->count != 0) {
            slot->count += count;
            slot->first = std::min(slot->first, first);
            return;
        }
        if (size >= most(capacity())) {
            grow();
            slot = &probe(key, hash, text);
        }
        if (text.size() > inline_bytes) {
            key.high = long_tag + keep(text);
        }
        *slot = {key, count, first};
        ++size;
    }

    std::uint64_t keep(std::string_view text) {
        const std::uint64_t offset = arena.size();
        const auto length = static_cast<std::uint32_t>(text.size());
        arena.resize(arena.size() + sizeof length + text.size());
        std::memcpy(arena.data() + offset, &length, sizeof length);
        std::memcpy(arena.data() + offset + sizeof length, text.data(), text.size());
        return offset;
    }

    void grow() {
        LargeBlock other(sizeof(Slot) << (bits + 1));
        auto* const larger = static_cast<Slot*>(other.data());
        const std::size_t old_capacity = capacity();
        ++bits;
        const std::size_t mask = capacity() - 1;
        for (std::size_t i = 0; i < old_capacity; ++i) {
            if (slots[i].count == 0) {
                continue;
            }
            std::size_t at = index(hash_of(slots[i].key));
            while (larger[at].count != 0) {
                at = (at + 1) & mask;
            }
            larger[at] = slots[i];
        }
        block = std::move(other);
        slots = larger;
    }

    [[nodiscard]] std::size_t text_size(const Slot& slot) const noexcept {
        return slot.key.high >= long_tag ? long_text(slot.key).size()
                                         : static_cast<std::size_t>(slot.key.high >> 56);
    }

    [[nodiscard]] std::string_view text_of(const Slot& slot) const noexcept {
        return slot.key.high >= long_tag
                   ? long_text(slot.key)
                   : std::string_view{reinterpret_cast<const char*>(&slot.key), text_size(slot)};
    }

    /// Moves all used slots to the front, where they are no table any more, and frees the rest.
    std::size_t gather();

    void copy_text(const Slot& slot, std::uint8_t* target) const noexcept {
        const std::string_view text = text_of(slot);
        std::memcpy(target, text.data(), text.size());
    }

    /// Sorts used slots, of which nothing but their text is looked up, and lists them.
    [[nodiscard]] PretokenArrays sort(std::span<const Slot> used) const;
};

} // namespace jogak
