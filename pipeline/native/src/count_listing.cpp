// What a table of pretokens holds, as arrays: all of it in order, or a part.
#include "count_order.hpp"
#include "count_slots.hpp"

#include <iterator>

namespace jogak {

namespace {

/// How many slots ahead memory is asked for.
constexpr std::size_t ahead = 16;

} // namespace

std::size_t PretokenTable::Impl::gather() {
    std::size_t used = 0;
    for (std::size_t i = 0; i < capacity(); ++i) {
        if (slots[i].count != 0) {
            slots[used++] = slots[i];
        }
    }
    block.resize(std::max<std::size_t>(used, 1) * sizeof(Slot));
    slots = static_cast<Slot*>(block.data());
    return used;
}

PretokenArrays PretokenTable::Impl::sort(std::span<const Slot> used) const {
    const std::vector<std::uint32_t> order =
        order_by_count(used, [this](const Slot& left, const Slot& right) {
            return text_of(left) < text_of(right);
        });
    const auto for_each = [&](auto&& visit) {
        for (std::size_t i = 0; i < order.size(); ++i) {
            __builtin_prefetch(&used[order[std::min(i + ahead, order.size() - 1)]]);
            visit(used[order[i]]);
        }
    };
    PretokenArrays result;
    result.offsets.reserve(used.size() + 1);
    result.counts.reserve(used.size());
    result.first.reserve(used.size());
    std::size_t bytes = 0;
    result.offsets.push_back(0);
    for_each([&](const Slot& slot) {
        bytes += text_size(slot);
        result.offsets.push_back(static_cast<std::int64_t>(bytes));
        result.counts.push_back(slot.count);
        result.first.push_back(slot.first);
    });
    result.data.resize(bytes);
    std::uint8_t* target = result.data.data();
    for_each([&](const Slot& slot) {
        copy_text(slot, target);
        target += text_size(slot);
    });
    return result;
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
    std::copy_if(impl_->slots, impl_->slots + impl_->capacity(), std::back_inserter(used),
                 [](const Slot& slot) { return slot.count != 0; });
    return impl_->sort(used);
}

PretokenArrays PretokenTable::take_sorted() {
    const std::size_t size = impl_->gather();
    PretokenArrays result = impl_->sort({impl_->slots, size});
    impl_ = std::make_unique<Impl>(impl_->skipped);
    give_back_memory();
    return result;
}

} // namespace jogak
