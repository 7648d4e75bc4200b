// The table: 32-byte slots indexed by the top bits of a hash, so that growing and merging walk
// memory in order. Pretokens up to 15 bytes, nearly all of them, live inside their slot.
#include "count_slots.hpp"

#include <array>

namespace jogak {

/// All hashes of a batch before the first probe, and short pretokens apart from long ones: slots
/// and texts arrive from memory meanwhile, and no branch depends on the size.
void PretokenTable::Impl::add_batch(std::string_view text, std::size_t start,
                                    std::span<const std::uint32_t> ends, std::uint64_t base) {
    std::array<Waiting, batch + 1> few; // one more, which is written and not used
    std::array<Waiting, batch + 1> many;
    std::size_t short_ones = 0;
    std::size_t long_ones = 0;
    const char* const text_end = text.data() + text.size();
    for (const std::uint32_t end : ends) {
        const std::size_t length = end - start;
        const bool is_short = length <= inline_bytes;
        Waiting& next = few[short_ones];
        next.key = short_key(text.data() + start, std::min(length, inline_bytes), text_end);
        next.hash = mix(next.key.low, next.key.high);
        next.start = static_cast<std::uint32_t>(start);
        next.end = end;
        many[long_ones].start = next.start;
        many[long_ones].end = end;
        __builtin_prefetch(&slots[index(next.hash)], 1);
        short_ones += is_short ? 1 : 0;
        long_ones += is_short ? 0 : 1;
        start = end;
    }
    const std::span<Waiting> longs{many.data(), long_ones};
    for (Waiting& next : longs) {
        next.key = {long_hash(text.data() + next.start, next.end - next.start), long_tag};
        next.hash = next.key.low;
        __builtin_prefetch(&slots[index(next.hash)], 1);
    }
    for (const Waiting& next : std::span(few.data(), short_ones)) {
        add(next.key, next.hash, text.substr(next.start, next.end - next.start), 1,
            base + next.start);
    }
    for (const Waiting& next : longs) {
        const Slot& slot = slots[index(next.hash)];
        if (slot.count != 0 && slot.key.high >= long_tag) {
            __builtin_prefetch(arena.data() + (slot.key.high - long_tag));
        }
    }
    for (const Waiting& next : longs) {
        add(next.key, next.hash, text.substr(next.start, next.end - next.start), 1,
            base + next.start);
    }
}

PretokenTable::PretokenTable(bool single_part)
    : impl_(std::make_unique<Impl>(single_part ? part_bits : 0)) {}
PretokenTable::~PretokenTable() = default;
PretokenTable::PretokenTable(PretokenTable&&) noexcept = default;
PretokenTable& PretokenTable::operator=(PretokenTable&&) noexcept = default;

void PretokenTable::add(std::string_view text, std::size_t start,
                        std::span<const std::uint32_t> ends, std::uint64_t base) {
    for (std::size_t done = 0; done < ends.size(); done += Impl::batch) {
        const std::span<const std::uint32_t> some =
            ends.subspan(done, std::min(Impl::batch, ends.size() - done));
        impl_->add_batch(text, start, some, base);
        start = some.back();
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

} // namespace jogak
