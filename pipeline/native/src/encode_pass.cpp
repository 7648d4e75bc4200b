#include "encode_pass.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace jogak {

namespace {

bool has_beyond_ascii(const std::uint8_t* text, std::size_t size) noexcept {
    std::uint8_t all = 0;
    for (std::size_t i = 0; i < size; ++i) {
        all = static_cast<std::uint8_t>(all | text[i]);
    }
    return all >= 0x80;
}

} // namespace

Pass::Pass(const MergeTable& table, const BoundaryTable* boundaries, const UnitKernels& kernels,
           Workspace& workspace, const Documents& documents)
    : boundaries_(boundaries), kernels_(kernels), work_(workspace),
      encoder_(table, boundaries, workspace), data_(documents.data.data()),
      data_end_(static_cast<std::size_t>(documents.offsets.back())),
      base_(static_cast<std::size_t>(documents.offsets.front())), position_(base_) {
    result_.document_ends.reserve(documents.size());
    // Most texts have 3-5 bytes to a token; a buffer that is too small grows by half.
    static_cast<void>(result_.ids.reserve((data_end_ - base_) / 3 + 64));
}

EncodedDocuments Pass::finish() {
    flush();
    result_.ids.shrink();
    return std::move(result_);
}

void Pass::add_document(std::string_view text, std::size_t origin, const Scanner& scanner) {
    if (scanner.by_masks()) {
        add_by_masks(text, origin, scanner);
        return;
    }
    std::array<std::uint32_t, 1024> ends;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t found = scanner.scan(text, start, ends.data(), ends.size());
        for (const std::uint32_t end : std::span(ends).first(found)) {
            add(origin + end);
        }
        start = ends[found - 1];
    }
}

/// The masks write straight into the window's bits.
void Pass::add_by_masks(std::string_view text, std::size_t origin, const Scanner& scanner) {
    for (std::size_t start = 0; start < text.size();) {
        MarkWindow window{work_.pretoken_bits.data(), static_cast<std::ptrdiff_t>(origin - base_),
                          window_bytes, beyond_ascii_};
        const std::size_t reached = scanner.mark(text, start, window);
        beyond_ascii_ = window.beyond_ascii;
        position_ = origin + reached;
        if (reached == start && position_ == base_) {
            // Not even an empty window has room.
            std::uint32_t end = 0;
            static_cast<void>(scanner.scan(text, start, &end, 1));
            add(origin + end);
            start = end;
            continue;
        }
        start = reached;
        if (start < text.size()) {
            flush();
        }
    }
}

void Pass::add(std::size_t end) {
    if (end - base_ > window_bytes) {
        flush();
        if (end - base_ > window_bytes) {
            add_long(end);
            return;
        }
    }
    is_looked_at_ = false;
    work_.pretoken_bits[(end - base_) / 64] |= std::uint64_t{1} << ((end - base_) % 64);
    position_ = end;
}

/// A pretoken longer than a window, when the window is empty.
void Pass::add_long(std::size_t end) {
    work_.missed_ids.clear();
    std::size_t start = base_;
    for (std::size_t at = base_; at < end && boundaries_ != nullptr; at += window_bytes) {
        const std::size_t size = std::min(window_bytes, end - at);
        boundaries_->find_cuts(data_, data_end_, at, size, work_.unit_bits.data());
        for (std::size_t word = 0; word < (size + 63) / 64; ++word) {
            for (std::uint64_t bits = work_.unit_bits[word]; bits != 0; bits &= bits - 1) {
                const std::size_t place =
                    at + 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
                if (place > start) {
                    encode_apart(start, place, false);
                    start = place;
                }
            }
        }
    }
    encode_apart(start, end, start == base_);
    TokenId* out = result_.ids.reserve(work_.missed_ids.size());
    result_.ids.commit(std::ranges::copy(work_.missed_ids, out).out);
    base_ = end;
    position_ = end;
}

void Pass::encode_apart(std::size_t begin, std::size_t end, bool whole) {
    const std::size_t size = end - begin;
    const std::uint8_t* bytes = data_ + begin;
    encoder_.encode({bytes, size, whole, exact_unit_key(bytes, size)}, work_.missed_ids);
}

/// Encodes the window's units; the next window begins where it ends.
void Pass::flush() {
    const std::size_t size = position_ - base_;
    if (size == 0) {
        result_.document_ends.insert(result_.document_ends.end(), work_.document_ends.size(),
                                     static_cast<std::int64_t>(result_.ids.size()));
    } else {
        work_.pretoken_bits[0] |= 1;
        find_units(size);
        encode_units(size);
        std::fill_n(work_.pretoken_bits.begin(), size / 64 + 1, 0);
    }
    work_.document_ends.clear();
    base_ = position_;
    beyond_ascii_ = false;
    is_looked_at_ = true;
}

/// Puts cuts among the ends of pretokens, and turns the bits into numbers.
void Pass::find_units(std::size_t size) {
    const std::size_t words = size / 64 + 1;
    units_ = work_.pretoken_bits.data();
    if (!is_looked_at_) {
        beyond_ascii_ = has_beyond_ascii(data_ + base_, size);
    }
    if (boundaries_ != nullptr && beyond_ascii_) { // nothing is cut in ASCII
        work_.unit_bits[words - 1] = 0;
        boundaries_->find_cuts(data_, data_end_, base_, size, work_.unit_bits.data());
        for (std::size_t word = 0; word < words; ++word) {
            work_.unit_bits[word] |= work_.pretoken_bits[word];
        }
        units_ = work_.unit_bits.data();
    }
    count_ =
        kernels_.list_places(units_, words, work_.starts.data(), work_.starts_before.data()) - 1;
}

void Pass::encode_units(std::size_t size) {
    const std::uint8_t* text = data_ + base_;
    if (base_ + size + 16 > data_end_) {
        // Keys are loads of 16 bytes.
        std::memcpy(work_.tail.data(), text, size);
        text = work_.tail.data();
    }
    const UnitWindow window{work_.cache.tables(), text, work_.starts.data(), work_.keys.data(),
                            work_.sets.data()};
    // An id stands for a byte or more; the kernels write beyond the last.
    TokenId* out = result_.ids.reserve(size + most_wide_ids);
    MissedUnit* missed = work_.missed.data();
    work_.probed_ends.clear();
    kernels_.prepare(window, count_);
    std::size_t unit = 0;
    for (const std::uint32_t end : work_.document_ends) {
        const std::size_t next = unit_at(end);
        out = kernels_.probe(window, unit, next, out, missed);
        unit = next;
        work_.probed_ends.push_back({out, missed});
    }
    out = kernels_.probe(window, unit, count_, out, missed);
    insert_missed({work_.missed.data(), missed}, out);
}

/// The number of the unit that starts at a place.
std::size_t Pass::unit_at(std::size_t place) const noexcept {
    const std::size_t word = place / 64;
    const std::uint64_t before = (std::uint64_t{1} << (place % 64)) - 1;
    return work_.starts_before[word] +
           static_cast<std::size_t>(std::popcount(units_[word] & before));
}

/// Encodes the units that the kernels left out and moves the ids behind them apart to let them in.
void Pass::insert_missed(std::span<const MissedUnit> missed, const TokenId* end) {
    work_.missed_ids.clear();
    work_.missed_ends.assign(1, 0);
    for (const MissedUnit& miss : missed) {
        encoder_.prefetch(unit(miss.unit));
    }
    for (const MissedUnit& miss : missed) {
        encoder_.encode(unit(miss.unit), work_.missed_ids);
        work_.missed_ends.push_back(work_.missed_ids.size());
    }
    const TokenId* probed = result_.ids.data() + result_.ids.size();
    for (const ProbedEnd& document : work_.probed_ends) {
        const auto before = static_cast<std::size_t>(document.missed - work_.missed.data());
        result_.document_ends.push_back(static_cast<std::int64_t>(
            result_.ids.size() + static_cast<std::size_t>(document.ids - probed) +
            work_.missed_ends[before]));
    }
    const auto count = static_cast<std::size_t>(end - probed);
    TokenId* out = result_.ids.reserve(count + work_.missed_ids.size());
    TokenId* to = out + count + work_.missed_ids.size();
    result_.ids.commit(to);
    std::size_t last = count; // what is behind it is in place
    for (std::size_t i = missed.size(); i-- > 0;) {
        const auto place = static_cast<std::size_t>(missed[i].at - probed);
        to -= last - place;
        std::memmove(to, out + place, (last - place) * sizeof(TokenId));
        last = place;
        const std::span ids =
            std::span(work_.missed_ids)
                .subspan(work_.missed_ends[i], work_.missed_ends[i + 1] - work_.missed_ends[i]);
        to -= ids.size();
        std::ranges::copy(ids, to);
    }
}

Unit Pass::unit(std::size_t index) const noexcept {
    const std::size_t start = work_.starts[index];
    const std::size_t stop = work_.starts[index + 1];
    return {data_ + base_ + start, stop - start, is_pretoken_end(start) && is_pretoken_end(stop),
            work_.keys[index]};
}

bool Pass::is_pretoken_end(std::size_t place) const noexcept {
    return (work_.pretoken_bits[place / 64] >> (place % 64) & 1) != 0;
}

} // namespace jogak
