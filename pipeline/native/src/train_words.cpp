#include "train_words.hpp"

#include "train_words_parts.hpp"

#include <algorithm>
#include <stdexcept>

namespace jogak {

namespace {

constexpr std::size_t code_points = 0x110000;

/// Length of the UTF-8 character that begins with `lead`; 1 for a byte that begins none.
std::size_t character_size(unsigned char lead) noexcept {
    return lead < 0xC2 || lead > 0xF4 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/// The code point of a character; of incomplete text, its bytes' value beyond all code points.
std::size_t code_point(std::string_view character) noexcept {
    const auto lead = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) {
        return lead < 0x80 ? lead : code_points;
    }
    std::size_t value = lead & (0xFFU >> (character.size() + 1));
    for (const char byte : character.substr(1)) {
        const auto next = static_cast<unsigned char>(byte);
        if ((next & 0xC0U) != 0x80) {
            return code_points;
        }
        value = value << 6U | (next & 0x3FU);
    }
    return std::min(value, code_points);
}

std::string_view character_at(std::string_view text, std::size_t at) noexcept {
    return text.substr(at, character_size(static_cast<unsigned char>(text[at])));
}

} // namespace

template <typename Symbol>
Words<Symbol>::Words(const TrainInput& input, const std::vector<std::uint32_t>& order,
                     bool keep_positions)
    : keep_positions_(keep_positions) {
    if (!input.encoded()) {
        read_alphabet(input.alphabet);
    }
    symbols_.reserve(input.pretokens.data.size() + input.symbols.size() + input.words() + 2);
    read_words(0, input.words(), [&](std::size_t i) {
        const std::size_t at = order.empty() ? i : order[i];
        const std::size_t start = symbols_.size();
        if (input.encoded()) {
            for (auto symbol = input.symbol_offsets[at]; symbol < input.symbol_offsets[at + 1];
                 ++symbol) {
                symbols_.push_back(
                    static_cast<Symbol>(input.symbols[static_cast<std::size_t>(symbol)]));
            }
        } else {
            append_symbols(input.pretokens[at]);
        }
        end_word(start, input.counts[at], keep_positions_ ? input.first[at] : 0);
    });
    set_common_weights();
    characters_ = {};
    last_characters_ = {};
}

template <typename Symbol>
template <typename Other>
Words<Symbol>::Words(const Words<Other>& text, const std::uint32_t* units) {
    symbols_.reserve(text.size()); // pages that stay empty cost nothing
    copy_words(text, 0, text.size() - 1, [&](const Other* at) {
        for (; *at != Words<Other>::boundary; at += units[*at]) {
            symbols_.push_back(static_cast<Symbol>(*at));
        }
        return at;
    });
    set_common_weights();
}

template <typename Symbol> void Words<Symbol>::read_alphabet(const Alphabet& alphabet) {
    bytes_.fill(boundary);
    if (alphabet.characters) {
        characters_.resize(code_points + 1, boundary);
        last_characters_.resize(alphabet.suffix.empty() ? 0 : code_points + 1, boundary);
    }
    for (std::size_t id = 0; id < alphabet.tokens.size(); ++id) {
        std::string_view token = alphabet.tokens[id];
        const auto symbol = static_cast<Symbol>(id);
        const bool last = !alphabet.suffix.empty() && token.size() > alphabet.suffix.size() &&
                          token.ends_with(alphabet.suffix);
        if (last) {
            token.remove_suffix(alphabet.suffix.size());
        }
        const bool character = alphabet.characters && character_at(token, 0) == token &&
                               code_point(token) < code_points;
        if (character) {
            (last ? last_characters_ : characters_)[code_point(token)] = symbol;
        } else if (!last && token.size() == 1) {
            bytes_[static_cast<unsigned char>(token[0])] = symbol;
        } else {
            throw std::invalid_argument("token " + std::to_string(id) +
                                        " of the alphabet is neither a byte nor a character");
        }
    }
}

template <typename Symbol> void Words<Symbol>::throw_too_many_symbols() {
    throw std::invalid_argument("the distinct pretokens must have fewer than 2^32 symbols; "
                                "train on fewer of them");
}

/// Words of fewer symbols than `least` are left out, since they have no pair.
template <typename Symbol>
void Words<Symbol>::end_word(std::size_t start, Count count, std::uint64_t first,
                             std::size_t least) {
    if (symbols_.size() < start + least) {
        symbols_.resize(start);
        return;
    }
    symbols_.push_back(boundary);
    if (symbols_.size() >= std::numeric_limits<std::uint32_t>::max()) {
        throw_too_many_symbols();
    }
    if (keep_positions_) {
        starts_.push_back(static_cast<std::uint32_t>(start));
        first_.push_back(first);
    }
    const auto end = static_cast<std::uint32_t>(symbols_.size());
    for (Count c = 1; c <= std::min(count, small_counts); ++c) {
        ends_[static_cast<std::size_t>(c)] = end;
    }
    while (count >= small_counts && large_.size() < end) {
        large_.push_back(count);
    }
}

template <typename Symbol> void Words<Symbol>::append_symbols(std::string_view pretoken) {
    if (characters_.empty()) {
        const std::size_t start = symbols_.size();
        symbols_.resize(start + pretoken.size());
        Symbol* target = symbols_.data() + start;
        for (const char byte : pretoken) {
            *target = bytes_[static_cast<unsigned char>(byte)];
            if (*target++ == boundary) {
                throw std::invalid_argument("the alphabet has no token for byte " +
                                            std::to_string(static_cast<unsigned char>(byte)));
            }
        }
        return;
    }
    for (std::size_t at = 0; at < pretoken.size();) {
        const std::string_view character = character_at(pretoken, at);
        at += character.size();
        const bool last = at == pretoken.size() && !last_characters_.empty();
        append_character(character, (last ? last_characters_ : characters_)[code_point(character)]);
    }
}

/// Appends a character's symbol; where it has none its bytes', or else a boundary.
template <typename Symbol>
void Words<Symbol>::append_character(std::string_view character, Symbol symbol) {
    const std::size_t start = symbols_.size();
    if (symbol != boundary) {
        symbols_.push_back(symbol);
        return;
    }
    for (const char byte : character) {
        symbols_.push_back(bytes_[static_cast<unsigned char>(byte)]);
        if (symbols_[symbols_.size() - 1] == boundary) {
            symbols_.resize(start + 1);
            symbols_[start] = boundary;
            return;
        }
    }
}

template <typename Symbol> void Words<Symbol>::set_common_weights() {
    common_.resize(symbols_.size() / block + 1);
    for (std::size_t i = 0; i * block < ends_[2]; ++i) {
        const Count head = small_weight(static_cast<std::uint32_t>(i * block));
        const Count tail = small_weight(static_cast<std::uint32_t>(i * block + block - 1));
        common_[i] = head == tail ? static_cast<std::uint8_t>(head) : 0;
    }
}

template <typename Symbol> Count Words<Symbol>::small_weight(std::uint32_t place) const noexcept {
    std::size_t count = small_counts;
    while (count > 1 && place >= ends_[count]) {
        --count;
    }
    return count;
}

template <typename Symbol>
std::uint64_t Words<Symbol>::position(std::uint32_t place) const noexcept {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), place);
    const auto word = static_cast<std::size_t>(next - starts_.begin()) - 1;
    return first_[word] + (place - starts_[word]);
}

template class Words<std::uint16_t>;
template class Words<std::uint32_t>;
template Words<std::uint16_t>::Words(const Words<std::uint16_t>&, const std::uint32_t*);
template Words<std::uint32_t>::Words(const Words<std::uint16_t>&, const std::uint32_t*);
template Words<std::uint32_t>::Words(const Words<std::uint32_t>&, const std::uint32_t*);

} // namespace jogak
