// The text of segments: from pretokens, and into tokens; threads work on parts of it.
#include "parallel.hpp"
#include "train_segments.hpp"
#include "train_words_parts.hpp"

#include <algorithm>

namespace jogak {

namespace {

/// The tokens of a segment that is one symbol and has few of them; else `count` is 0.
template <typename Symbol> struct FewTokens {
    std::array<Symbol, 4> tokens;
    std::uint32_t count;
};

template <typename Symbol>
std::vector<FewTokens<Symbol>> few_tokens(const Segments& segments, const std::uint32_t* units) {
    std::vector<FewTokens<Symbol>> few(segments.size());
    for (std::size_t id = 0; id < few.size(); ++id) {
        const std::span<const TokenId> tokens = segments.tokens(id);
        if (units[id] == 1 && tokens.size() <= few[id].tokens.size()) {
            few[id].count = static_cast<std::uint32_t>(tokens.size());
            std::transform(tokens.begin(), tokens.end(), few[id].tokens.begin(),
                           [](TokenId token) { return static_cast<Symbol>(token); });
        }
    }
    return few;
}

std::size_t parts_of(std::size_t size, const TrainOptions& options) noexcept {
    return size < options.tuning.parallel_from ? 1 : std::max(options.threads, 1U);
}

} // namespace

template <typename Symbol>
Words<Symbol>::Words(const TrainInput& input, const std::vector<std::uint32_t>& order,
                     Segments& segments, const TrainOptions& options) {
    const std::size_t parts = parts_of(input.words(), options);
    std::vector<Segments> learned(parts - 1, segments);
    const auto read = [&](Words& words, std::size_t part) {
        Segments& known = part == 0 ? segments : learned[part - 1];
        RawArray<Symbol>& symbols = words.symbols_;
        const auto cut = [&](std::size_t i) { return input.words() * i / parts; };
        // There are no more segments than bytes; pages that stay empty cost nothing.
        symbols.reserve(input.pretokens.data.size() + input.words() + 2);
        words.read_words(cut(part), cut(part + 1), [&](std::size_t i) {
            const std::size_t at = order.empty() ? i : order[i];
            const std::size_t start = symbols.size();
            known.read(input.pretokens[at], input.counts[at],
                       [&](std::size_t id) { symbols.push_back(static_cast<Symbol>(id)); });
            const bool is_token =
                symbols.size() == start + 1 && known.tokens(symbols[start]).size() == 1;
            words.end_word(start, input.counts[at], 0, is_token ? 2 : 1);
        });
    };
    read_parts(parts, read, [&](std::size_t part) { return segments.absorb(learned[part - 1]); });
}

template <typename Symbol>
template <typename Other>
Words<Symbol>::Words(const Words<Other>& text, const std::uint32_t* units, const Segments& segments,
                     const TrainOptions& options) {
    const std::vector<FewTokens<Symbol>> few = few_tokens<Symbol>(segments, units);
    const std::vector<std::size_t> cuts = text.cuts(options);
    const auto read = [&](Words& words, std::size_t part) {
        RawArray<Symbol>& symbols = words.symbols_;
        symbols.reserve(cuts[part + 1] - cuts[part] + 1);
        words.copy_words(text, cuts[part], cuts[part + 1], [&](const Other* at) {
            while (*at != Words<Other>::boundary) {
                if (const FewTokens<Symbol>& tokens = few[*at]; tokens.count != 0) {
                    symbols.append(tokens.tokens, tokens.count);
                    ++at; // a number that is known: no segment waits for the one before
                    continue;
                }
                for (const TokenId token : segments.tokens(*at)) {
                    symbols.push_back(static_cast<Symbol>(token));
                }
                at += units[*at];
            }
            return at;
        });
    };
    read_parts(cuts.size() - 1, read, [](std::size_t) { return std::vector<std::uint32_t>(); });
}

/// Calls read(words, part) for every part, which fills an empty text with it, and puts them one
/// behind the other. ids(part) says what becomes of a part's symbols; nothing: they stay.
template <typename Symbol>
template <typename Read, typename Ids>
void Words<Symbol>::read_parts(std::size_t parts, const Read& read, const Ids& ids) {
    std::vector<Words> others(parts);
    in_parallel(static_cast<unsigned>(parts), parts,
                [&](unsigned, std::size_t part) { read(part == 0 ? *this : others[part], part); });
    for (std::size_t part = 1; part < parts; ++part) {
        append(others[part], ids(part));
        others[part] = Words();
    }
    set_common_weights();
}

/// Appends words that are not more frequent than those here.
template <typename Symbol>
void Words<Symbol>::append(const Words& part, const std::vector<std::uint32_t>& ids) {
    const std::size_t start = symbols_.size();
    symbols_.resize(start + part.size() - 1); // without the boundary it begins with
    const Symbol* const from = part.symbols() + 1;
    Symbol* const to = symbols_.data() + start;
    std::transform(from, from + (part.size() - 1), to, [&](Symbol symbol) {
        return symbol == boundary || ids.empty() ? symbol : static_cast<Symbol>(ids[symbol]);
    });
    if (symbols_.size() >= std::numeric_limits<std::uint32_t>::max()) {
        throw_too_many_symbols();
    }
    for (std::size_t count = 1; count < ends_.size(); ++count) {
        if (part.ends_[count] != 0) {
            ends_[count] = part.ends_[count] + static_cast<std::uint32_t>(start - 1);
        }
    }
    for (std::size_t place = 1; place < part.large_.size(); ++place) {
        large_.push_back(part.large_[place]);
    }
}

template <typename Symbol>
std::vector<std::size_t> Words<Symbol>::cuts(const TrainOptions& options) const {
    const std::size_t parts = parts_of(size(), options);
    std::vector<std::size_t> cuts{0};
    for (std::size_t part = 1; part < parts; ++part) {
        std::size_t cut = std::max(cuts.back(), size() / parts * part);
        while (cut + 1 < size() && symbols_[cut] != boundary) {
            ++cut;
        }
        cuts.push_back(cut);
    }
    cuts.push_back(std::max<std::size_t>(size(), 1) - 1);
    return cuts;
}

template class Words<std::uint16_t>;
template class Words<std::uint32_t>;
template Words<std::uint16_t>::Words(const Words<std::uint16_t>&, const std::uint32_t*,
                                     const Segments&, const TrainOptions&);
template Words<std::uint32_t>::Words(const Words<std::uint16_t>&, const std::uint32_t*,
                                     const Segments&, const TrainOptions&);

} // namespace jogak
