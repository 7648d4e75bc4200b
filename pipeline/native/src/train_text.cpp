#include "train_text.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

namespace {

/// How many occurrences ahead the text is asked for.
constexpr std::uint32_t ahead = 24;

} // namespace

template <typename Symbol>
PairText<Symbol>::PairText(Words<Symbol> words, std::size_t ids, const Tokens* rules,
                           const TrainOptions& options, std::uint32_t exact_length)
    : rules_(rules), options_(options), exact_length_(exact_length), words_(std::move(words)),
      units_(ids, 1), left_(ids), right_(ids) {}

template <typename Symbol> Count PairText<Symbol>::recount(PairIndex index) {
    Pair& pair = pairs_[index];
    const Symbol* const symbols = words_.symbols();
    const std::uint32_t step = units_[pair.left];
    const auto left = static_cast<Symbol>(pair.left);
    const auto right = static_cast<Symbol>(pair.right);
    const std::uint32_t end = pair.list + pair.length;
    const Places::Writer places = places_.writer();
    std::uint32_t write = pair.list;
    Count sum = 0;
    for (std::uint32_t read = pair.list; read < end; ++read) {
        const std::uint32_t place = places_[read];
        __builtin_prefetch(&symbols[places_[std::min(read + ahead, end - 1)]]);
        const std::uint32_t live = is_live(symbols, place, step, left, right);
        places.set(write, place);
        write += live;
        sum += live * words_.weight(place);
    }
    pair.length = write - pair.list;
    pair.count = sum;
    return sum;
}

template <typename Symbol> void PairText<Symbol>::add_pair(const Pair& pair) {
    if (pairs_.size() >= PairFinder::absent) {
        throw std::invalid_argument(
            "there must be fewer than 2^32 pairs; train on fewer pretokens");
    }
    const auto index = static_cast<PairIndex>(pairs_.size());
    pairs_.push_back(pair);
    if (is_exact(pair)) {
        exact_.insert(pair.left, pair.right, index);
    }
}

template <typename Symbol> void PairText<Symbol>::prefetch_text(PairIndex index) const noexcept {
    const Pair& pair = pairs_[index];
    const Symbol* const symbols = words_.symbols();
    for (std::uint32_t i = 0; i < std::min(pair.length, ahead); ++i) {
        __builtin_prefetch(&symbols[places_[pair.list + i]]);
    }
}

/// Words of one count stand in text order, so among words of count 1, which are nearly all, the
/// first is the earliest.
template <typename Symbol> std::uint64_t PairText<Symbol>::first_position(const Pair& pair) const {
    std::uint64_t earliest = ~std::uint64_t{0};
    const Symbol* symbols = words_.symbols();
    const std::uint32_t step = units_[pair.left];
    for (std::uint32_t i = 0; i < pair.length; ++i) {
        const std::uint32_t place = places_[pair.list + i];
        if (symbols[place] != pair.left || symbols[place + step] != pair.right) {
            continue; // an exact pair's list is not cleaned by recounts
        }
        earliest = std::min(earliest, words_.position(place));
        if (place >= words_.singles()) {
            break;
        }
    }
    return earliest;
}

template class PairText<std::uint16_t>;
template class PairText<std::uint32_t>;

} // namespace jogak
