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
        (getenv("SC")?find_cuts_scalar:find_cuts_avx512)(boundaries_->cut_tables(), data_, data_end_, base_, size, work_.cut_bits.data());
        // The last window is short; what the one before it left there is not of this text.
        std::fill(work_.cut_bits.begin() + static_cast<std::ptrdiff_t>((size + 63) / 64),
                  work_.cut_bits.end(), 0);
    }
    find_starts();
    if (count_ > 0) {
        const bool ends_pretoken = test_bit(work_.pretoken_bits, work_.starts[0]);
        prepare();
        emit_unit(unit_start_, base_ + work_.starts[0] - unit_start_,
                  unit_starts_pretoken_ && ends_pretoken);
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
            work_.keys[i] =
                inside ? narrow_key(data_ + begin, size) : narrow_key_at(begin, size);
            work_.sets[i] = work_.cache.narrow_set(work_.keys[i]);
            __builtin_prefetch(work_.sets[i]);
        }
    }
}

void Pass::emit(std::size_t first, std::size_t last) {
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
        const std::span<const TokenId> ids =
            look_up(base_ + work_.starts[i], size, table_.has_unmerged() && is_whole(i),
                    work_.sets[i], work_.keys[i]);
        out = result_.ids.reserve(ids.size() + (last - i) * most_narrow_ids);
        out = std::copy(ids.begin(), ids.end(), out);
    }
    result_.ids.commit(out);
}

void Pass::emit_unit(std::size_t begin, std::size_t size, bool whole) {
    if (size == 0) {
        return;
    }
    std::array<std::uint64_t, 2> key{};
    NarrowSlot* set = nullptr;
    if (size <= longest_narrow) {
        key = narrow_key_at(begin, size);
        set = work_.cache.narrow_set(key);
    }
    std::array<TokenId, most_narrow_ids> found;
    std::span<const TokenId> ids;
    if (const NarrowSlot* slot = set == nullptr ? nullptr : UnitCache::find(set, key)) {
        ids = std::span(found).first(UnitCache::emit(*slot, found.data()));
    } else {
        ids = look_up(begin, size, whole, set, key);
    }
    TokenId* out = result_.ids.reserve(ids.size());
    result_.ids.commit(std::copy(ids.begin(), ids.end(), out));
}

/// The ids of a unit that the narrow cache does not hold; valid until the next call. `whole`: the
/// unit is a pretoken and not a part of one. `set` and `key` are given up to `longest_narrow`.
std::span<const TokenId> Pass::look_up(std::size_t begin, std::size_t size, bool whole,
                                       NarrowSlot* set, const std::array<std::uint64_t, 2>& key) {
    const std::span<const std::uint8_t> bytes{data_ + begin, size};
    if (table_.has_unmerged()) {
        // The same bytes mean different ids as a pretoken and as a part of one: never cached.
        if (const TokenId id = table_.find_unmerged(bytes); id != no_token) {
            if (whole) {
                work_.scratch.symbols.assign(1, id);
                return {work_.scratch.symbols.data(), 1};
            }
            return merge(bytes);
        }
    }
    // So few bytes cannot give more ids than a narrow slot holds.
    if (size <= most_narrow_ids || size > longest_wide) {
        const std::span<const TokenId> ids = merge(bytes);
        if (size <= longest_narrow) {
            static_cast<void>(UnitCache::insert(set, key, ids));
        }
        return ids;
    }
    const auto long_key = wide_key(bytes.data(), size);
    WideSlot* wide_set = work_.cache.wide_set(long_key);
    if (const WideSlot* slot = UnitCache::find(wide_set, long_key)) {
        work_.scratch.symbols.resize(std::max(work_.scratch.symbols.size(), most_wide_ids));
        return {work_.scratch.symbols.data(), UnitCache::emit(*slot, work_.scratch.symbols.data())};
    }
    const std::span<const TokenId> ids = merge(bytes);
    if (size > longest_narrow || !UnitCache::insert(set, key, ids)) {
        static_cast<void>(UnitCache::insert(wide_set, long_key, ids));
    }
    return ids;
}

std::span<const TokenId> Pass::merge(std::span<const std::uint8_t> bytes) {
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

} // namespace jogak
