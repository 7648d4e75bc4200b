// What tables of pretokens hold, as arrays in order.
//
// In order without random reads: slots are dealt out by their first position to buckets that fit
// the cache, in which they are sorted; then each bucket writes its pretokens of every small count
// to the place that belongs to that count and bucket. Memory is given back as it is read.
#include "count_first.hpp"
#include "count_order.hpp"
#include "count_ranges.hpp"
#include "parallel.hpp"

#include <array>
#include <bit>
#include <limits>

namespace jogak {

namespace {

/// Counts below it, which nearly all pretokens have, need no comparison.
constexpr Count small_counts = 64;
/// How many of a bucket's pretokens ahead the text is asked for.
constexpr std::size_t ahead = 8;
constexpr std::size_t bucket_slots = 2048;
constexpr std::size_t most_buckets = 1024;
/// A table is read in so many.
constexpr std::size_t pieces = 16;

/// By count descending; class 0 is that of all large counts.
std::size_t class_of(const Slot& slot) noexcept {
    return static_cast<std::size_t>(small_counts - std::min(slot.count, small_counts));
}

/// Where the next pretoken goes, or how many there are.
struct Place {
    std::size_t row = 0;
    std::size_t byte = 0;
};
using Places = std::array<Place, small_counts>;

class Listing {
  public:
    Listing(std::span<Ranges::Table* const> tables, unsigned threads, bool keep)
        : tables_(tables), threads_(threads), keep_(keep), ranges_(tables, keep) {}

    PretokenArrays list() {
        measure();
        reserve();
        deal_out();
        const Place total = find_places();
        resize(result_.data, total.byte);
        resize(result_.offsets, total.row + 1);
        resize(result_.counts, total.row);
        resize(result_.first, total.row);
        result_.offsets[total.row] = static_cast<std::int64_t>(total.byte);
        Finished finished(buckets());
        in_parallel(threads_, buckets(), [&](unsigned, std::size_t index) {
            write(index);
            finished.note(index, [this](std::size_t from, std::size_t to) {
                dealt_.discard(starts_[from] * sizeof(Slot), starts_[to] * sizeof(Slot));
            });
        });
        write_large();
        return std::move(result_);
    }

  private:
    template <typename T> static void resize(Column<T>& column, std::size_t size) {
        column.reserve(size);
        prefer_large_pages(column.data(), size * sizeof(T));
        column.resize(size);
    }

    [[nodiscard]] std::size_t buckets() const noexcept { return starts_.size() - 1; }

    [[nodiscard]] std::size_t bucket_of(const Slot& slot) const noexcept {
        return static_cast<std::size_t>((slot.first - lowest_) >> shift_);
    }

    [[nodiscard]] std::span<Slot> bucket(std::size_t index) noexcept {
        return {static_cast<Slot*>(dealt_.data()) + starts_[index],
                ends_[index].load(std::memory_order_relaxed) - starts_[index]};
    }

    void measure() {
        std::size_t size = 0;
        std::uint64_t highest = 0;
        for (const Ranges::Table* table : tables_) {
            size += table->size;
            lowest_ = std::min(lowest_, table->lowest);
            highest = std::max(highest, table->highest);
        }
        if (size > std::numeric_limits<std::uint32_t>::max()) {
            throw std::invalid_argument("there must be fewer than 2^32 distinct pretokens");
        }
        const std::size_t wanted =
            std::clamp<std::size_t>(std::bit_ceil(size / bucket_slots), 2, most_buckets);
        const std::uint64_t span = size == 0 ? 0 : highest - lowest_;
        while (span >> shift_ >= wanted) {
            ++shift_;
        }
        starts_.assign(wanted + 1, 0);
        ends_ = std::vector<std::atomic<std::size_t>>(wanted);
        dealt_ = LargeBlock(size * sizeof(Slot), LargeBlock::Pages::small);
    }

    /// Makes room in each bucket for all slots that belong there, equal ones of several tables too.
    void reserve() {
        in_parallel(threads_, tables_.size() * pieces, [this](unsigned, std::size_t item) {
            const Ranges::Table& table = *tables_[item / pieces];
            const std::size_t from = item % pieces * table.capacity / pieces;
            const std::size_t to = (item % pieces + 1) * table.capacity / pieces;
            std::vector<std::size_t> found(buckets());
            for (const Slot& slot :
                 std::span(table.slots, table.capacity).subspan(from, to - from)) {
                if (slot.count != 0) {
                    ++found[bucket_of(slot)];
                }
            }
            take_room(found);
        });
        std::size_t sum = 0;
        for (std::size_t index = 0; index < buckets(); ++index) {
            starts_[index] = sum;
            sum += ends_[index].exchange(sum);
        }
        starts_.back() = sum;
    }

    /// Turns how many slots each bucket is to get into where they go.
    void take_room(std::vector<std::size_t>& slots) {
        for (std::size_t index = 0; index < buckets(); ++index) {
            if (slots[index] != 0) {
                slots[index] = ends_[index].fetch_add(slots[index], std::memory_order_relaxed);
            }
        }
    }

    /// Brings the slots of all ranges to their buckets.
    void deal_out() {
        std::vector<Ranges::Scratch> scratch(threads_);
        auto* const target = static_cast<Slot*>(dealt_.data());
        in_parallel(threads_, ranges_.size(), [&](unsigned thread, std::size_t range) {
            const std::span<const Slot> slots = ranges_.slots(range, scratch[thread]);
            std::vector<std::size_t> next(buckets());
            for (const Slot& slot : slots) {
                if (slot.count != 0) {
                    ++next[bucket_of(slot)];
                }
            }
            take_room(next);
            for (const Slot& slot : slots) {
                if (slot.count != 0) {
                    target[next[bucket_of(slot)]++] = slot;
                }
            }
            ranges_.release(range);
        });
        if (!keep_) {
            for (Ranges::Table* table : tables_) {
                table->block = LargeBlock();
            }
        }
    }

    /// Finds where each bucket's pretokens of each class begin; returns the ends of all.
    Place find_places() {
        places_.resize(buckets());
        in_parallel(threads_, buckets(), [this](unsigned, std::size_t index) {
            for (const Slot& slot : bucket(index)) {
                Place& place = places_[index][class_of(slot)];
                ++place.row;
                place.byte += ranges_.text(slot).size();
            }
        });
        Place sum;
        for (std::size_t each = 0; each < small_counts; ++each) {
            for (Places& places : places_) {
                const Place here = std::exchange(places[each], sum);
                sum.row += here.row;
                sum.byte += here.byte;
            }
            if (each == 0) {
                large_.resize(sum.row);
            }
        }
        return sum;
    }

    /// Where the text ends that a bucket writes of a class.
    [[nodiscard]] std::size_t end_of(std::size_t index, std::size_t each) const noexcept {
        if (index + 1 < buckets()) {
            return places_[index + 1][each].byte;
        }
        return each + 1 < small_counts ? places_[0][each + 1].byte : result_.data.size();
    }

    /// Writes the pretokens of one bucket, but for those of large counts, which are put aside.
    void write(std::size_t index) {
        const std::span<const Slot> slots = bucket(index);
        const std::vector<std::uint32_t> order = order_by_first(slots, ranges_);
        Places places = places_[index];
        std::array<std::size_t, small_counts> ends;
        for (std::size_t each = 0; each < small_counts; ++each) {
            ends[each] = end_of(index, each);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Slot& soon = slots[order[std::min(i + ahead, order.size() - 1)]];
            if (soon.key.high >= long_tag) {
                __builtin_prefetch(ranges_.text(soon).data());
            }
            const Slot& slot = slots[order[i]];
            const std::size_t each = class_of(slot);
            if (each == 0) {
                large_[places[0].row++] = slot;
            } else {
                write(slot, places[each], ends[each]);
            }
        }
    }

    /// Writes a pretoken; what lies behind it up to `end` may be overwritten.
    void write(const Slot& slot, Place& place, std::size_t end) {
        const std::string_view text = ranges_.text(slot);
        result_.offsets[place.row] = static_cast<std::int64_t>(place.byte);
        result_.counts[place.row] = slot.count;
        result_.first[place.row] = slot.first;
        std::uint8_t* const target = result_.data.data() + place.byte;
        if (text.size() <= inline_bytes && place.byte + sizeof slot.key <= end) {
            std::memcpy(target, &slot.key, sizeof slot.key); // one move, whatever the size
        } else {
            std::memcpy(target, text.data(), text.size());
        }
        ++place.row;
        place.byte += text.size();
    }

    void write_large() {
        Place place;
        const std::span<const Slot> slots(large_);
        for (const std::uint32_t row :
             order_by_count(slots, [this](const Slot& one, const Slot& other) {
                 return ranges_.text(one) < ranges_.text(other);
             })) {
            write(slots[row], place, 0);
        }
    }

    std::span<Ranges::Table* const> tables_;
    unsigned threads_;
    bool keep_;
    Ranges ranges_;
    std::uint64_t lowest_ = std::numeric_limits<std::uint64_t>::max();
    unsigned shift_ = 0;
    LargeBlock dealt_;
    std::vector<std::size_t> starts_;            // of the buckets, and the end
    std::vector<std::atomic<std::size_t>> ends_; // of what lies in them
    std::vector<Places> places_;                 // by bucket
    std::vector<Slot> large_;
    PretokenArrays result_;
};

} // namespace

PretokenArrays PretokenTable::sorted(std::span<PretokenTable* const> tables, unsigned threads,
                                     bool keep) {
    std::vector<Impl*> held;
    for (PretokenTable* table : tables) {
        held.push_back(table->impl_.get());
    }
    PretokenArrays result = Listing(held, threads, keep).list();
    if (!keep) {
        for (PretokenTable* table : tables) {
            table->impl_ = std::make_unique<Impl>(table->impl_->skipped);
        }
        give_back_memory();
    }
    return result;
}

} // namespace jogak
