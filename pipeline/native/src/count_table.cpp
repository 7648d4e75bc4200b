// The table: 32-byte slots indexed by the top bits of a hash, so that growing and merging walk
// memory in order. Pretokens up to 15 bytes, nearly all of them, live inside their slot.
#include "count_sort.hpp"
#include "huge_pages.hpp"
#include "jogak/count.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace jogak {

static_assert(std::endian::native == std::endian::little, "keys are loaded as little-endian words");

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t inline_bytes = 15;
constexpr std::uint64_t long_tag = std::uint64_t{0xFF} << 56;
constexpr unsigned initial_bits = 10;
constexpr std::size_t batch = 64;

/// 15 bytes of text with the length in the top byte of `high`; for longer text, `low` is the hash
/// and `high` is long_tag plus where the text lies in the arena.
struct Key {
    std::uint64_t low;
    std::uint64_t high;
};

struct Slot {
    Key key;
    Count count; // 0: empty
    std::uint64_t first;
};
static_assert(sizeof(Slot) == 32);

std::uint64_t load(const char* text) noexcept {
    std::uint64_t word;
    std::memcpy(&word, text, sizeof word);
    return word;
}

/// Folded 128-bit product, the mixing step of wyhash (public domain, Wang Yi).
std::uint64_t mix(std::uint64_t left, std::uint64_t right) noexcept {
    const Wide product =
        static_cast<Wide>(left ^ 0xA0761D6478BD642FU) * (right ^ 0xE7037ED1A0B428DBU);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// masks[n + 8] keeps of a text's first 8 bytes what lies within n bytes, masks[n] of its next 8.
constexpr std::array<std::uint64_t, 24> masks = [] {
    std::array<std::uint64_t, 24> made{};
    for (std::size_t i = 8; i < made.size(); ++i) {
        made[i] = i >= 16 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * (i - 8))) - 1;
    }
    return made;
}();

Key short_key(const char* text, std::size_t size, const char* end) noexcept {
    std::array<char, 16> padded{};
    if (end - text < 16) {
        std::memcpy(padded.data(), text, size);
        text = padded.data();
    }
    // Masks instead of a branch on the size, which nothing predicts.
    return {load(text) & masks[size + 8],
            (load(text + 8) & masks[size]) | static_cast<std::uint64_t>(size) << 56};
}

std::uint64_t long_hash(const char* text, std::size_t size) noexcept {
    std::uint64_t hash = size;
    for (std::size_t i = 0; i + 16 < size; i += 16) {
        hash = mix(load(text + i) ^ hash, load(text + i + 8));
    }
    return mix(load(text + size - 16) ^ hash, load(text + size - 8));
}

struct Free {
    void operator()(Slot* slots) const noexcept { std::free(slots); }
};

} // namespace

struct PretokenTable::Impl {
    std::unique_ptr<Slot[], Free> slots;
    unsigned bits = initial_bits;
    unsigned skipped; // leading bits of the hash that the index leaves out
    std::size_t size = 0;
    std::vector<char> arena; // each long pretoken: its length (4 bytes), then its text

    explicit Impl(unsigned skip) : slots(allocate(initial_bits)), skipped(skip) {}

    static std::unique_ptr<Slot[], Free> allocate(unsigned bits) {
        // calloc: pages that are never touched cost nothing.
        auto* memory = static_cast<Slot*>(std::calloc(std::size_t{1} << bits, sizeof(Slot)));
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
        prefer_huge_pages(memory, sizeof(Slot) << bits);
        return std::unique_ptr<Slot[], Free>(memory);
    }

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
        auto larger = allocate(bits + 1);
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
        slots = std::move(larger);
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
    std::size_t gather() {
        std::size_t used = 0;
        for (std::size_t i = 0; i < capacity(); ++i) {
            if (slots[i].count != 0) {
                slots[used++] = slots[i];
            }
        }
        const std::size_t bytes = std::max<std::size_t>(used, 1) * sizeof(Slot);
        if (void* kept = std::realloc(slots.get(), bytes); kept != nullptr) {
            static_cast<void>(slots.release());
            slots.reset(static_cast<Slot*>(kept));
        }
        return used;
    }

    void copy_text(const Slot& slot, std::uint8_t* target) const noexcept {
        const std::string_view text = text_of(slot);
        std::memcpy(target, text.data(), text.size());
    }

    /// Sorts used slots, of which nothing but their text is looked up, and lists them.
    [[nodiscard]] PretokenArrays sort(std::span<Slot> used) const {
        sort_by_count(used, [this](const Slot& left, const Slot& right) {
            return text_of(left) < text_of(right);
        });
        PretokenArrays result;
        result.offsets.reserve(used.size() + 1);
        result.counts.reserve(used.size());
        result.first.reserve(used.size());
        std::size_t bytes = 0;
        result.offsets.push_back(0);
        for (const Slot& slot : used) {
            bytes += text_size(slot);
            result.offsets.push_back(static_cast<std::int64_t>(bytes));
            result.counts.push_back(slot.count);
            result.first.push_back(slot.first);
        }
        result.data.resize(bytes);
        std::uint8_t* target = result.data.data();
        for (const Slot& slot : used) {
            copy_text(slot, target);
            target += text_size(slot);
        }
        return result;
    }
};

PretokenTable::PretokenTable(bool single_part)
    : impl_(std::make_unique<Impl>(single_part ? part_bits : 0)) {}
PretokenTable::~PretokenTable() = default;
PretokenTable::PretokenTable(PretokenTable&&) noexcept = default;
PretokenTable& PretokenTable::operator=(PretokenTable&&) noexcept = default;

void PretokenTable::add(std::string_view text, std::size_t start,
                        std::span<const std::uint32_t> ends, std::uint64_t base) {
    std::array<Key, batch> keys;
    std::array<std::uint64_t, batch> hashes;
    const char* const text_end = text.data() + text.size();
    for (std::size_t done = 0; done < ends.size(); done += batch) {
        const std::size_t count = std::min(batch, ends.size() - done);
        // All hashes of a batch before the first probe: their slots arrive from memory meanwhile.
        std::size_t begin = start;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t end = ends[done + i];
            keys[i] = Impl::key_of(text.substr(begin, end - begin), text_end);
            hashes[i] = Impl::hash_of(keys[i]);
            __builtin_prefetch(&impl_->slots[impl_->index(hashes[i])], 1);
            begin = end;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t end = ends[done + i];
            impl_->add(keys[i], hashes[i], text.substr(start, end - start), 1, base + start);
            start = end;
        }
    }
}

void PretokenTable::add(std::string_view pretoken, Count count, std::uint64_t first) {
    const Key key = Impl::key_of(pretoken, pretoken.data() + pretoken.size());
    impl_->add(key, Impl::hash_of(key), pretoken, count, first);
}

void PretokenTable::merge(const PretokenTable& other) {
    const Impl& from = *other.impl_;
    while (impl_->capacity() < from.capacity()) {
        impl_->grow();
    }
    for (std::size_t i = 0; i < from.capacity(); ++i) {
        const Slot& slot = from.slots[i];
        if (slot.count == 0) {
            continue;
        }
        const std::uint64_t hash = Impl::hash_of(slot.key);
        Key key = slot.key;
        key.high = std::min(key.high, long_tag); // without where the text lies there
        impl_->add(key, hash, from.text_of(slot), slot.count, slot.first);
    }
}

std::uint64_t PretokenTable::find(std::string_view pretoken, std::uint64_t absent) const noexcept {
    const Key key = Impl::key_of(pretoken, pretoken.data() + pretoken.size());
    const Slot& slot = impl_->probe(key, Impl::hash_of(key), pretoken);
    return slot.count == 0 ? absent : slot.first;
}

std::size_t PretokenTable::size() const noexcept { return impl_->size; }

std::size_t PretokenTable::memory_bytes() const noexcept {
    return impl_->capacity() * sizeof(Slot) + impl_->arena.capacity();
}

std::size_t PretokenTable::growth_bytes(std::size_t pretokens) const noexcept {
    std::size_t capacity = impl_->capacity();
    while (impl_->size + pretokens > Impl::most(capacity)) {
        capacity *= 2;
    }
    return capacity == impl_->capacity() ? 0 : capacity * sizeof(Slot);
}

PretokenArrays PretokenTable::part(std::size_t part) const {
    const Impl& table = *impl_;
    const std::size_t mask = table.capacity() - 1;
    const bool whole = table.skipped != 0;
    const std::size_t span = whole ? table.capacity() : table.capacity() >> part_bits;
    const std::size_t start = whole ? 0 : part * span;
    PretokenArrays result;
    result.offsets.push_back(0);
    // A pretoken that found its slot taken lies further on, so the part ends at an empty slot.
    for (std::size_t i = 0; i < table.capacity(); ++i) {
        const Slot& slot = table.slots[(start + i) & mask];
        if (slot.count == 0) {
            if (i >= span) {
                break;
            }
            continue;
        }
        if (Impl::hash_of(slot.key) >> (64 - part_bits) != part) {
            continue;
        }
        const std::size_t size = table.text_size(slot);
        result.data.resize(result.data.size() + size);
        table.copy_text(slot, result.data.data() + result.data.size() - size);
        result.offsets.push_back(static_cast<std::int64_t>(result.data.size()));
        result.counts.push_back(slot.count);
        result.first.push_back(slot.first);
    }
    return result;
}

PretokenArrays PretokenTable::sorted() const {
    std::vector<Slot> used;
    used.reserve(impl_->size);
    std::copy_if(impl_->slots.get(), impl_->slots.get() + impl_->capacity(),
                 std::back_inserter(used), [](const Slot& slot) { return slot.count != 0; });
    return impl_->sort(used);
}

PretokenArrays PretokenTable::take_sorted() {
    const std::size_t size = impl_->gather();
    PretokenArrays result = impl_->sort({impl_->slots.get(), size});
    impl_ = std::make_unique<Impl>(impl_->skipped);
    return result;
}

} // namespace jogak
