// The table: 32-byte slots indexed by the top bits of a hash, so that growing and merging walk
// memory in order. Pretokens up to 15 bytes, nearly all of them, live inside their slot.
#include "count_slots.hpp"

#include <array>
#include <cmath>

namespace jogak {

namespace {

/// How many slots ahead memory is asked for.
constexpr std::size_t ahead = 16;
/// As many as a large page holds.
constexpr std::size_t page_slots = (std::size_t{1} << 21U) / sizeof(Slot);

} // namespace

void PretokenTable::Impl::insert(Slot& free, const Key& key, std::uint64_t hash,
                                 std::string_view text, Count count, std::uint64_t first) {
    Slot* slot = &free;
    if (size >= most(capacity)) {
        grow();
        slot = &probe(key, hash, text);
    }
    const std::uint64_t high = text.size() > inline_bytes ? arena.keep(text) : key.high;
    *slot = {{key.low, high}, count, first};
    ++size;
}

std::size_t PretokenTable::Impl::grown(std::size_t from) const noexcept {
    if (outlook <= 1) {
        return from * 2;
    }
    // What was seen since the table last grew tells how fast new pretokens become rare.
    const double text = grown_at.outlook / outlook;
    const double distinct = static_cast<double>(size) / static_cast<double>(grown_at.size);
    const double exponent =
        text > 1 ? std::clamp(std::log(distinct) / std::log(text), 0.25, 1.0) : 0.75;
    const double wanted = static_cast<double>(size) * std::pow(outlook, exponent) * 8 / 5 * 1.04;
    const std::size_t least = from / 4 * 5;
    const auto found = static_cast<std::size_t>(std::min(wanted, static_cast<double>(from * 4)));
    const std::size_t chosen = std::max(found, least);
    return chosen < page_slots ? chosen : (chosen + page_slots - 1) / page_slots * page_slots;
}

/// In place: slots side by side are taken out, the last ones of the table first, and go in their
/// order to where they belong, what is frequent first, as it was there first. None of them belongs
/// before them, now less than ever, so that there is nothing left to be moved. The few that find no
/// room before the end of the table are set aside meanwhile.
void PretokenTable::Impl::grow() {
    const std::size_t new_capacity = grown(capacity);
    block.extend(sizeof(Slot) * new_capacity);
    slots = static_cast<Slot*>(block.data());
    const std::size_t old_capacity = std::exchange(capacity, new_capacity);
    grown_at = {outlook, size};
    std::vector<Slot> together;
    std::vector<Slot> aside;
    const double scale = static_cast<double>(capacity) / static_cast<double>(old_capacity);
    for (std::size_t i = old_capacity; i-- > 0;) {
        if (i > ahead) { // what lies there goes about so far
            __builtin_prefetch(
                slots + static_cast<std::size_t>(static_cast<double>(i - ahead) * scale), 1);
        }
        if (slots[i].count != 0) {
            together.push_back(std::exchange(slots[i], Slot{}));
        }
        if (i == 0 || slots[i - 1].count == 0) {
            for (; !together.empty(); together.pop_back()) {
                if (!place(together.back())) {
                    aside.push_back(together.back());
                }
            }
        }
    }
    for (; !aside.empty(); aside.pop_back()) {
        const Slot& slot = aside.back();
        Slot* free = &slots[index(hash_of(slot.key))];
        while (free->count != 0) {
            free = &slots[after(static_cast<std::size_t>(free - slots))];
        }
        *free = slot;
    }
}

bool PretokenTable::Impl::place(const Slot& slot) noexcept {
    std::size_t at = index(hash_of(slot.key));
    while (at < capacity && slots[at].count != 0) {
        ++at;
    }
    if (at == capacity) {
        return false;
    }
    slots[at] = slot;
    return true;
}

PretokenTable::Impl::Walk PretokenTable::Impl::walk(std::uint64_t first_hash,
                                                    std::uint64_t last_hash) const noexcept {
    const std::size_t start = index(first_hash);
    std::size_t length = index(last_hash) - start + 1;
    std::size_t end = after(start + length - 1);
    while (length < capacity && slots[end].count != 0) {
        end = after(end);
        ++length;
    }
    return {start, length};
}

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
            __builtin_prefetch(arena.data() + long_place(slot.key));
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
    if (ends.empty()) {
        return;
    }
    impl_->lowest = std::min(impl_->lowest, base + start);
    impl_->highest = std::max(impl_->highest, base + ends.back());
    for (std::size_t done = 0; done < ends.size(); done += Impl::batch) {
        const std::span<const std::uint32_t> some =
            ends.subspan(done, std::min(Impl::batch, ends.size() - done));
        impl_->add_batch(text, start, some, base);
        start = some.back();
    }
}

void PretokenTable::add(std::string_view pretoken, Count count, std::uint64_t first) {
    impl_->lowest = std::min(impl_->lowest, first);
    impl_->highest = std::max(impl_->highest, first);
    const Key key = Impl::key_of(pretoken, pretoken.data() + pretoken.size());
    impl_->add(key, hash_of(key), pretoken, count, first);
}

void PretokenTable::expect(double outlook) noexcept { impl_->outlook = outlook; }

void PretokenTable::merge(const PretokenTable& other) {
    const Impl& from = *other.impl_;
    impl_->lowest = std::min(impl_->lowest, from.lowest);
    impl_->highest = std::max(impl_->highest, from.highest);
    while (impl_->capacity < from.capacity) {
        impl_->grow();
    }
    for (std::size_t i = 0; i < from.capacity; ++i) {
        const Slot& slot = from.slots[i];
        if (slot.count == 0) {
            continue;
        }
        Key key = slot.key;
        key.high = std::min(key.high, long_tag); // without where the text lies there
        impl_->add(key, hash_of(key), text_of(slot, from.arena.data()), slot.count, slot.first);
    }
}

std::uint64_t PretokenTable::find(std::string_view pretoken, std::uint64_t absent) const noexcept {
    const Key key = Impl::key_of(pretoken, pretoken.data() + pretoken.size());
    const Slot& slot = impl_->probe(key, hash_of(key), pretoken);
    return slot.count == 0 ? absent : slot.first;
}

std::size_t PretokenTable::size() const noexcept { return impl_->size; }

std::size_t PretokenTable::memory_bytes() const noexcept {
    return impl_->capacity * sizeof(Slot) + impl_->arena.capacity();
}

std::size_t PretokenTable::growth_bytes(std::size_t pretokens) const noexcept {
    std::size_t capacity = impl_->capacity;
    while (impl_->size + pretokens > Impl::most(capacity)) {
        capacity = impl_->grown(capacity);
    }
    const std::size_t added = capacity - impl_->capacity;
    const bool twice = added != 0 && !impl_->block.moves_pages();
    return (twice ? capacity : added) * sizeof(Slot);
}

PretokenArrays PretokenTable::part(std::size_t part) const {
    const Impl& table = *impl_;
    const std::uint64_t first_hash = static_cast<std::uint64_t>(part) << (64 - part_bits);
    const Impl::Walk walk =
        table.walk(first_hash, first_hash + ((std::uint64_t{1} << (64 - part_bits)) - 1));
    PretokenArrays result;
    result.offsets.push_back(0);
    std::size_t at = walk.start;
    for (std::size_t i = 0; i < walk.length; ++i, at = table.after(at)) {
        const Slot& slot = table.slots[at];
        if (slot.count == 0 || hash_of(slot.key) >> (64 - part_bits) != part) {
            continue;
        }
        const std::string_view text = text_of(slot, table.arena.data());
        result.data.insert(result.data.end(), text.begin(), text.end());
        result.offsets.push_back(static_cast<std::int64_t>(result.data.size()));
        result.counts.push_back(slot.count);
        result.first.push_back(slot.first);
    }
    return result;
}

} // namespace jogak
