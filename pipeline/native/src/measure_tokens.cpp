#include "jogak/measure.hpp"
#include "measure_characters.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace jogak {

TokenMeter::TokenMeter(const Documents& tokens, std::int64_t unknown, DecodingRules rules)
    : offsets_(1), unknown_(unknown), rules_(rules),
      is_plain_(rules.strip_start == 0 && !rules.strip_last_space) {
    facts_.reserve(tokens.size());
    offsets_.reserve(tokens.size() + 1);
    for (std::size_t index = 0; index < tokens.size(); ++index) {
        const std::string_view bytes = tokens[index];
        data_.insert(data_.end(), bytes.begin(), bytes.end());
        offsets_.push_back(static_cast<std::int64_t>(data_.size()));
        facts_.push_back(facts_of(bytes));
    }
}

std::string_view TokenMeter::token(TokenId id) const noexcept {
    return Documents{data_, offsets_}[id];
}

TokenMeter::Facts TokenMeter::facts_of(std::string_view token) {
    Facts facts{};
    facts.solid = true;
    facts.size = static_cast<std::uint8_t>(std::min(token.size(), most_inline + 1));
    std::copy_n(token.begin(), token.size() <= most_inline ? token.size() : 0, facts.bytes.begin());
    bool open = false;
    for (std::size_t position = 0; position < token.size();) {
        const Character character = character_at(token, position);
        const bool in_word = !is_space(character.code_point);
        facts.begins_word = position == 0 ? in_word : facts.begins_word;
        facts.words += in_word && !open ? 1 : 0;
        facts.syllables += is_syllable(character.code_point) ? 1 : 0;
        facts.solid = facts.solid && in_word;
        facts.partial = facts.partial || !character.valid;
        facts.ends_inside = character.cut_off;
        open = in_word;
        position += character.size;
    }
    facts.ends_word = open;
    return facts;
}

/// Takes tokens up to where one ends with a whole character, all of them character by character;
/// returns how many there are. The first one ends inside a character.
std::size_t TokenMeter::take_broken(std::span<const TokenId> ids, Word& word,
                                    TokenSums& sums) const {
    std::string joined;
    std::vector<std::size_t> owners; // of each byte, the token's place
    std::size_t used = 0;
    do {
        const std::string_view bytes = token(ids[used]);
        joined += bytes;
        owners.resize(joined.size(), used);
        ++used;
    } while (used < ids.size() && ends_inside(joined));
    // Any token of another index counts as one more; those before these have none of the indexes.
    std::size_t last = ids.size();
    for (std::size_t position = 0; position < joined.size();) {
        const Character character = character_at(joined, position);
        const std::size_t first_owner = owners[position];
        const std::size_t last_owner = owners[position + character.size - 1];
        if (is_syllable(character.code_point)) {
            ++sums.syllables;
            sums.split_syllables += first_owner != last_owner ? 1 : 0;
        }
        if (is_space(character.code_point)) {
            word = {};
        } else {
            const bool joins = word.open && last != last_owner;
            if (!word.open) {
                ++sums.words;
                word = {true, false};
            }
            if ((joins || first_owner != last_owner) && !word.continued) {
                word.continued = true;
                ++sums.continued_words;
            }
            last = last_owner;
        }
        position += character.size;
    }
    return used;
}

bool TokenMeter::is_exact(std::span<const TokenId> ids, std::string_view text) const noexcept {
    std::size_t length = 0;
    auto strip = rules_.strip_start;
    char last = '\0';
    for (const TokenId id : ids) {
        std::string_view bytes = token(id);
        while (strip > 0 && !bytes.empty()) {
            strip = bytes.front() == ' ' ? strip - 1 : 0;
            if (bytes.front() != ' ') {
                break;
            }
            bytes.remove_prefix(1);
        }
        if (bytes.empty()) {
            continue;
        }
        if (length < text.size()) {
            const std::size_t shared = std::min(bytes.size(), text.size() - length);
            if (std::memcmp(bytes.data(), text.data() + length, shared) != 0) {
                return false;
            }
        }
        length += bytes.size();
        last = bytes.back();
    }
    return length - (rules_.strip_last_space && last == ' ' ? 1 : 0) == text.size();
}

class TokenMeter::Comparison {
  public:
    explicit Comparison(std::string_view text) noexcept
        : at_(text.data()), end_(text.data() + text.size()) {}

    void take(const Facts& facts, const TokenMeter& meter, TokenId id) noexcept {
        const auto left = static_cast<std::size_t>(end_ - at_);
        if (facts.size <= most_inline && left >= most_inline) {
            std::array<std::uint64_t, 2> own{};
            std::array<std::uint64_t, 2> other{};
            std::memcpy(own.data(), facts.bytes.data(), most_inline);
            std::memcpy(other.data(), at_, most_inline);
            const auto& mask = masks[facts.size];
            different_ |= ((own[0] ^ other[0]) & mask[0]) | ((own[1] ^ other[1]) & mask[1]);
            at_ += facts.size;
            return;
        }
        const std::string_view bytes = meter.token(id);
        if (bytes.size() > left || std::memcmp(bytes.data(), at_, bytes.size()) != 0) {
            different_ = 1;
            at_ = end_;
            return;
        }
        at_ += bytes.size();
    }

    [[nodiscard]] bool is_equal() const noexcept { return different_ == 0 && at_ == end_; }

  private:
    /// The bytes that count of a token of so many, as they lie in memory.
    static constexpr auto masks = [] {
        std::array<std::array<std::uint64_t, 2>, most_inline + 1> made{};
        for (std::size_t size = 0; size <= most_inline; ++size) {
            std::array<std::uint8_t, most_inline> bytes{};
            std::fill_n(bytes.begin(), size, std::uint8_t{0xFF});
            made[size] = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
        }
        return made;
    }();

    const char* at_;
    const char* end_;
    std::uint64_t different_ = 0;
};

void TokenMeter::check_ids(std::span<const TokenId> ids) const {
    TokenId largest = 0; // by hand: an iterator to it would be found one id at a time
    for (const TokenId id : ids) {
        largest = std::max(largest, id);
    }
    if (!ids.empty() && largest >= size()) {
        throw std::invalid_argument("id " + std::to_string(largest) + " is not below " +
                                    std::to_string(size()));
    }
}

/// Adds up one document; `ahead` more ids can be read behind it.
void TokenMeter::measure_document(std::span<const TokenId> ids, std::size_t ahead,
                                  const std::string_view* text, TokenSums& sums,
                                  std::span<std::int64_t> counts) const {
    constexpr std::size_t prefetched = 8;
    Comparison comparison(text != nullptr && is_plain_ ? *text : std::string_view{});
    std::size_t whole = 0; // up to here, words are known
    // In numbers, and each on its own: compilers make branches of bools, and whether a token goes
    // on with a word is as good as random; a struct of them is kept in memory.
    unsigned open = 0; // as in Word
    unsigned continued = 0;
    std::int64_t words = 0;
    std::int64_t continued_words = 0;
    std::int64_t syllables = 0;
    std::int64_t partial = 0;
    std::int64_t unknown = 0;
    for (std::size_t at = 0; at < ids.size(); ++at) {
        if (at + prefetched < ids.size() + ahead) {
            const TokenId next = ids.data()[at + prefetched];
            __builtin_prefetch(&facts_[next]);
            __builtin_prefetch(&counts[next], 1);
        }
        const TokenId id = ids[at];
        const Facts& facts = facts_[id];
        ++counts[id];
        partial += facts.partial;
        unknown += static_cast<std::int64_t>(id) == unknown_ ? 1 : 0;
        comparison.take(facts, *this, id);
        if (at < whole || facts.size == 0) {
            continue; // no bytes: a word goes on behind it
        }
        if (facts.ends_inside) {
            Word word{open != 0, continued != 0};
            whole = at + take_broken(ids.subspan(at), word, sums);
            open = word.open ? 1 : 0;
            continued = word.continued ? 1 : 0;
            continue;
        }
        const unsigned joins = facts.begins_word & open;
        syllables += facts.syllables;
        words += static_cast<std::int64_t>(facts.words) - static_cast<std::int64_t>(joins);
        continued_words += static_cast<std::int64_t>(joins & (continued ^ 1U));
        open = facts.solid | facts.ends_word;
        continued = joins & facts.solid;
    }
    sums.tokens += static_cast<std::int64_t>(ids.size());
    sums.words += words;
    sums.continued_words += continued_words;
    sums.syllables += syllables;
    sums.partial_tokens += partial;
    sums.unknown_tokens += unknown;
    if (text != nullptr) {
        sums.exact_documents += (is_plain_ ? comparison.is_equal() : is_exact(ids, *text)) ? 1 : 0;
    }
}

void TokenMeter::measure(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                         std::span<const std::int32_t> groups, const Documents* texts,
                         std::span<TokenSums> sums, std::span<std::int64_t> counts) const {
    if (groups.size() != ends.size() || (texts != nullptr && texts->size() != ends.size()) ||
        counts.size() != sums.size() * size()) {
        throw std::invalid_argument("ends, groups, texts and counts are not of the same documents");
    }
    check_ids(ids);
    std::size_t begin = 0;
    for (std::size_t index = 0; index < ends.size(); ++index) {
        const auto end = static_cast<std::size_t>(ends[index]);
        const auto group = static_cast<std::size_t>(groups[index]);
        if (end < begin || end > ids.size() || group >= sums.size()) {
            throw std::invalid_argument("document " + std::to_string(index) +
                                        ": its end or its group is out of range");
        }
        const std::string_view text = texts == nullptr ? std::string_view{} : (*texts)[index];
        measure_document(ids.subspan(begin, end - begin), ids.size() - end,
                         texts == nullptr ? nullptr : &text, sums[group],
                         counts.subspan(group * size(), size()));
        begin = end;
    }
}

} // namespace jogak
