#include "jogak/measure.hpp"
#include "measure_characters.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

namespace jogak {

TokenMeter::TokenMeter(const Documents& tokens, std::int64_t unknown, DecodingRules rules)
    : offsets_(1), unknown_(unknown), rules_(rules) {
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

void TokenMeter::take(const Facts& facts, Word& word, TokenSums& sums) const noexcept {
    if (facts.solid && facts.words == 0) {
        return; // no bytes: a word goes on behind it
    }
    sums.syllables += facts.syllables;
    if (facts.begins_word && word.open) {
        sums.continued_words += word.continued ? 0 : 1;
        word.continued = true;
        sums.words += facts.words - 1;
    } else {
        word.continued = false;
        sums.words += facts.words;
    }
    if (facts.solid) {
        word.open = true;
    } else {
        word = {facts.ends_word, false};
    }
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

void TokenMeter::measure(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                         std::span<const std::int32_t> groups, const Documents* texts,
                         std::span<TokenSums> sums, std::span<std::int64_t> counts) const {
    if (groups.size() != ends.size() || (texts != nullptr && texts->size() != ends.size()) ||
        counts.size() != sums.size() * size()) {
        throw std::invalid_argument("ends, groups, texts and counts are not of the same documents");
    }
    std::size_t begin = 0;
    for (std::size_t index = 0; index < ends.size(); ++index) {
        const auto end = static_cast<std::size_t>(ends[index]);
        const auto group = static_cast<std::size_t>(groups[index]);
        if (end < begin || end > ids.size() || group >= sums.size()) {
            throw std::invalid_argument("document " + std::to_string(index) +
                                        ": its end or its group is out of range");
        }
        const auto document = ids.subspan(begin, end - begin);
        TokenSums& sum = sums[group];
        const auto own = counts.subspan(group * size(), size());
        for (const TokenId id : document) {
            if (id >= size()) {
                throw std::invalid_argument("id " + std::to_string(id) + " is not below " +
                                            std::to_string(size()));
            }
            ++own[id];
            sum.partial_tokens += facts_[id].partial ? 1 : 0;
            sum.unknown_tokens += static_cast<std::int64_t>(id) == unknown_ ? 1 : 0;
        }
        Word word;
        for (std::size_t at = 0; at < document.size();) {
            const Facts& facts = facts_[document[at]];
            if (facts.ends_inside) {
                at += take_broken(document.subspan(at), word, sum);
            } else {
                take(facts, word, sum);
                ++at;
            }
        }
        sum.tokens += static_cast<std::int64_t>(document.size());
        sum.exact_documents += texts != nullptr && is_exact(document, (*texts)[index]) ? 1 : 0;
        begin = end;
    }
}

} // namespace jogak
