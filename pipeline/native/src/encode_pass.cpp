#include "encode_pass.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

[[nodiscard]] bool test_bit(std::span<const std::uint64_t> bits, std::size_t index) noexcept {
    return (bits[index / 64] >> (index % 64) & 1) != 0;
}

} // namespace

Pass::Pass(const MergeTable& table, const BoundaryTable* boundaries, Workspace& workspace,
           const Documents& documents)
    : table_(table), boundaries_(boundaries), work_(workspace), data_(documents.data.data()),
      data_end_(static_cast<std::size_t>(documents.offsets.back())),
      base_(static_cast<std::size_t>(documents.offsets.front())), unit_start_(base_) {
    result_.document_ends.reserve(documents.size());
    // Most texts have 3-5 bytes to a token; a buffer that is too small grows by half.
    static_cast<void>(result_.ids.reserve((data_end_ - base_) / 3 + 64));
    // A boundary where the text starts, so that empty documents there end before the first unit.
    work_.pretoken_bits[0] |= 1;
}

EncodedDocuments Pass::finish() {
    flush();
    result_.ids.shrink();
    return std::move(result_);
}

void Pass::flush() {
    if (boundaries_ != nullptr) {
        const std::size_t size = std::min(window_bytes, data_end_ - base_);
        boundaries_->find_cuts(data_, data_end_, base_, size, work_.cut_bits.data());
        // The last window is short; what the one before it left there is not of this text.
        std::fill(work_.cut_bits.begin() + static_cast<std::ptrdiff_t>((size + 63) / 64),
                  work_.cut_bits.end(), 0);
    }
    find_starts();
    if (count_ > 0) {
        const bool ends_pretoken = test_bit(work_.pretoken_bits, work_.starts[0]);
        prepare();
        emit_unit({data_ + unit_start_, base_ + work_.starts[0] - unit_start_,
                   unit_starts_pretoken_ && ends_pretoken});
        unit_start_ = base_ + work_.starts[count_ - 1];
        unit_starts_pretoken_ = test_bit(work_.pretoken_bits, work_.starts[count_ - 1]);
    }
    std::size_t unit = 0;
    for (const std::uint32_t end : work_.document_ends) {
        const std::size_t next = std::max<std::size_t>(starts_up_to(end), 1) - 1;
        emit(unit, next);
        unit = next;
        result_.document_ends.push_back(static_cast<std::int64_t>(result_.ids.size()));
    }
    emit(unit, std::max<std::size_t>(count_, 1) - 1);
    work_.document_ends.clear();
    work_.pretoken_bits.fill(0);
    base_ += window_bytes;
}

/// Turns the bits of the window into numbers: unit i lies between starts[i] and starts[i + 1].
void Pass::find_starts() noexcept {
    std::uint32_t* out = work_.starts.data();
    for (std::size_t word = 0; word < work_.pretoken_bits.size(); ++word) {
        work_.starts_before[word] = static_cast<std::uint32_t>(out - work_.starts.data());
        std::uint64_t bits = work_.pretoken_bits[word] | work_.cut_bits[word];
        const auto count = std::popcount(bits);
        // Eight at a time without a test for each: their number varies too much to be predicted.
        for (int done = 0; done < count; done += 8) {
            for (int i = 0; i < 8; ++i) {
                out[done + i] =
                    static_cast<std::uint32_t>(word * 64) +
                    static_cast<std::uint32_t>(std::countr_zero(bits | (std::uint64_t{1} << 63)));
                bits &= bits - 1;
            }
        }
        out += count;
    }
    count_ = static_cast<std::size_t>(out - work_.starts.data());
}

std::size_t Pass::starts_up_to(std::size_t position) const noexcept {
    const std::size_t word = position / 64;
    const std::uint64_t mask = ~std::uint64_t{0} >> (63 - position % 64);
    return work_.starts_before[word] +
           static_cast<std::size_t>(
               std::popcount((work_.pretoken_bits[word] | work_.cut_bits[word]) & mask));
}

bool Pass::is_whole(std::size_t unit) const noexcept {
    return test_bit(work_.pretoken_bits, work_.starts[unit]) &&
           test_bit(work_.pretoken_bits, work_.starts[unit + 1]);
}

std::array<std::uint64_t, 2> Pass::narrow_key_at(std::size_t begin,
                                                 std::size_t size) const noexcept {
    if (begin + 16 <= data_end_) {
        return narrow_key(data_ + begin, size);
    }
    std::array<std::uint8_t, 16> padded{};
    std::memcpy(padded.data(), data_ + begin, size);
    return narrow_key(padded.data(), size);
}

/// Keys, sets and prefetches of the whole window come first, so that probes do not wait.
void Pass::prepare() noexcept {
    // Keys are loads of 16 bytes; only near the end of the data they need care.
    const bool inside = base_ + window_bytes + 16 <= data_end_;
    for (std::size_t i = 0; i + 1 < count_; ++i) {
        const std::size_t size = work_.starts[i + 1] - work_.starts[i];
        if (size <= longest_narrow) {
            const std::size_t begin = base_ + work_.starts[i];
            work_.keys[i] = inside ? narrow_key(data_ + begin, size) : narrow_key_at(begin, size);
            work_.sets[i] = work_.cache.narrow_set(work_.keys[i]);
            __builtin_prefetch(work_.sets[i]);
        }
    }
}

void Pass::emit(std::size_t first, std::size_t last) {
    // Room for what hits give, and for one unit of the wide table more.
    const auto room = [last](std::size_t unit) {
        return (last - unit) * most_narrow_ids + longest_wide + 1;
    };
    TokenId* out = result_.ids.reserve(room(first));
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t size = work_.starts[i + 1] - work_.starts[i];
        if (size <= longest_narrow) {
            if (const NarrowSlot* slot = UnitCache::find(work_.sets[i], work_.keys[i])) {
                out += UnitCache::emit(*slot, out);
                continue;
            }
        }
        const Unit unit{data_ + base_ + work_.starts[i], size,
                        table_.has_unmerged() && is_whole(i)};
        if (size <= longest_narrow) {
            out = encode_narrow(unit, work_.sets[i], work_.keys[i], out);
        } else if (size <= longest_wide) {
            out = encode_wide(unit, out);
        } else {
            result_.ids.commit(out);
            encode_long(unit);
            out = result_.ids.reserve(room(i + 1));
        }
        if (static_cast<std::size_t>(result_.ids.limit() - out) < room(i + 1)) {
            result_.ids.commit(out);
            out = result_.ids.reserve(room(i + 1));
        }
    }
    result_.ids.commit(out);
}

void Pass::emit_unit(const Unit& unit) {
    if (unit.size > longest_wide) {
        encode_long(unit);
        return;
    }
    TokenId* out = result_.ids.reserve(longest_wide + 1);
    if (unit.size > longest_narrow) {
        out = encode_wide(unit, out);
    } else if (unit.size > 0) {
        const auto key = narrow_key_at(static_cast<std::size_t>(unit.bytes - data_), unit.size);
        NarrowSlot* set = work_.cache.narrow_set(key);
        const NarrowSlot* slot = UnitCache::find(set, key);
        out = slot == nullptr ? encode_narrow(unit, set, key, out)
                              : out + UnitCache::emit(*slot, out);
    }
    result_.ids.commit(out);
}

/// A unit of up to longest_narrow bytes whose set does not hold its key.
TokenId* Pass::encode_narrow(const Unit& unit, NarrowSlot* set,
                             const std::array<std::uint64_t, 2>& key, TokenId* out) {
    const std::array<std::uint64_t, 2> elsewhere{key[0], key[1] | elsewhere_bit};
    if (UnitCache::find(set, elsewhere) != nullptr) {
        return encode_wide(unit, out);
    }
    TokenId* end = encode_short(unit, out);
    if (!is_cacheable(unit)) {
        return end;
    }
    const std::span<const TokenId> ids(out, end);
    if (!work_.cache.insert(set, key, ids)) {
        static_cast<void>(work_.cache.insert(set, elsewhere, {}));
        const auto long_key = wide_key(unit.bytes, unit.size);
        static_cast<void>(work_.cache.insert(work_.cache.wide_set(long_key), long_key, ids));
    }
    return end;
}

/// A unit of up to longest_wide bytes by way of the wide table.
TokenId* Pass::encode_wide(const Unit& unit, TokenId* out) {
    const auto key = wide_key(unit.bytes, unit.size);
    WideSlot* set = work_.cache.wide_set(key);
    if (const WideSlot* slot = UnitCache::find(set, key)) {
        return out + UnitCache::emit(*slot, out);
    }
    TokenId* end = encode_short(unit, out);
    if (is_cacheable(unit)) {
        static_cast<void>(work_.cache.insert(set, key, std::span<const TokenId>(out, end)));
    }
    return end;
}

/// The bytes of a token that only whole_first makes mean different ids as a pretoken and as a part
/// of one.
bool Pass::is_cacheable(const Unit& unit) const noexcept {
    return !table_.has_unmerged() || table_.find_unmerged({unit.bytes, unit.size}) == no_token;
}

/// A unit of up to longest_wide bytes, without caches.
TokenId* Pass::encode_short(const Unit& unit, TokenId* out) const {
    if (unit.whole && table_.has_unmerged()) {
        if (const TokenId id = table_.find_unmerged({unit.bytes, unit.size}); id != no_token) {
            *out = id;
            return out + 1;
        }
    }
    ShortUnit merged;
    Symbol* symbols = merged.symbols();
    std::size_t count = unit.size;
    if (boundaries_ != nullptr) {
        count = boundaries_->start(unit.bytes, unit.size, symbols);
    } else {
        std::copy_n(unit.bytes, unit.size, symbols);
    }
    count = merge_by_scan(table_, merged, count);
    return write_ids({symbols, count}, out);
}

void Pass::encode_long(const Unit& unit) {
    if (unit.whole && table_.has_unmerged()) {
        if (const TokenId id = table_.find_unmerged({unit.bytes, unit.size}); id != no_token) {
            TokenId* out = result_.ids.reserve(1);
            *out = id;
            result_.ids.commit(out + 1);
            return;
        }
    }
    std::vector<Symbol>& symbols = work_.scratch.symbols;
    symbols.resize(std::max(symbols.size(), unit.size));
    std::size_t count = unit.size;
    if (boundaries_ != nullptr) {
        count = boundaries_->start(unit.bytes, unit.size, symbols.data());
    } else {
        std::copy_n(unit.bytes, unit.size, symbols.begin());
    }
    count = merge_by_queue(table_, symbols.data(), count, work_.scratch);
    TokenId* out = result_.ids.reserve(count);
    result_.ids.commit(write_ids({symbols.data(), count}, out));
}

TokenId* Pass::write_ids(std::span<const Symbol> symbols, TokenId* out) const {
    for (const Symbol symbol : symbols) {
        *out = table_.token(symbol);
        if (*out == no_token) {
            throw std::runtime_error("encode: the vocabulary has no token for byte " +
                                     std::to_string(symbol));
        }
        ++out;
    }
    return out;
}

} // namespace jogak
