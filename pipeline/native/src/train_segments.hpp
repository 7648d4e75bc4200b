// Segments: short strings that text is cut into before training, each a list of tokens. Private to
// train.
#pragma once

#include "jogak/train.hpp"

#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jogak {

/// At first a segment is one character, or a space and the character after it. A byte that begins
/// no character is one by itself.
class Segments {
  public:
    /// Whether an alphabet has a token for every byte and nothing else, as segments need it.
    [[nodiscard]] static bool suit(const Alphabet& alphabet) noexcept;

    /// There are to be at most `most` segments.
    Segments(const Alphabet& alphabet, std::size_t most);

    /// Cuts a pretoken that occurs `count` times; calls visit(id) for each of its segments.
    template <typename Visit> void read(std::string_view pretoken, Count count, Visit&& visit) {
        std::size_t begin = 0;
        std::size_t at = pretoken.size() > 1 && pretoken[0] == ' ' ? 1 : 0;
        while (begin < pretoken.size()) {
            const Character next = character_at(pretoken, at);
            const std::size_t size = at + next.size - begin;
            const std::size_t id =
                find(next.code | (at != begin ? spaced : 0), pretoken.substr(begin, size));
            weights_[id] += count;
            visit(id);
            at = begin += size;
        }
    }

    /// Learns what another one learned, with its weights; returns the ids here of those there.
    [[nodiscard]] std::vector<std::uint32_t> absorb(const Segments& other);

    /// Whether `most` was too few; some segments were then read as others.
    [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

    /// Whether no more are to be made: there is no id left, or text of long runs of one character
    /// has made many long ones.
    [[nodiscard]] bool is_full() const noexcept {
        return size() >= most_ || tokens_.size() >= most_tokens;
    }
    [[nodiscard]] std::size_t size() const noexcept { return starts_.size(); }
    [[nodiscard]] std::span<const TokenId> tokens(std::size_t id) const noexcept {
        return {tokens_.data() + starts_[id], lengths_[id]};
    }

    /// What the occurrences of a segment count.
    [[nodiscard]] Count weight(std::size_t id) const noexcept { return weights_[id]; }

    /// Makes the segment of the tokens of two where these stood together; returns its id.
    std::size_t join(std::size_t left, std::size_t right);

    /// Says what the occurrences of the segment that was joined last count.
    void move_weight(std::size_t left, std::size_t right, Count weight) {
        weights_[left] -= weight;
        weights_[right] -= weight;
        weights_.back() = weight;
    }

    /// Merges a pair of tokens within a segment; false where it does not occur there.
    bool merge(std::size_t id, TokenId left, TokenId right, TokenId made);

  private:
    struct Character {
        std::uint32_t code; // beyond all code points for a byte that begins no character
        std::uint32_t size;
    };
    static constexpr std::uint32_t code_points = 0x110000;
    static constexpr std::size_t direct = 0x10000;
    static constexpr std::size_t most_tokens = std::size_t{1} << 20U;

    /// Of the code of a character that a space stands before.
    static constexpr std::uint32_t spaced = std::uint32_t{1} << 31U;

    [[nodiscard]] static Character character_at(std::string_view text, std::size_t at) noexcept;

    /// The id plus 1 of the segment with a code: 0 where there is none yet.
    [[nodiscard]] std::uint32_t& entry(std::uint32_t code) {
        const std::size_t at = (code & ~spaced) + (code < spaced ? 0 : direct);
        return (code & ~spaced) < direct ? direct_[at] : others_[code];
    }
    [[nodiscard]] std::size_t find(std::uint32_t code, std::string_view text) {
        const std::uint32_t id = entry(code);
        return id != 0 ? id - 1 : learn(code, text);
    }
    bool begin(std::uint32_t code, std::size_t length);
    std::size_t learn(std::uint32_t code, std::string_view text);

    std::array<TokenId, 256> bytes_;
    std::vector<std::uint32_t> direct_ = std::vector<std::uint32_t>(2 * direct); // by code
    std::unordered_map<std::uint32_t, std::uint32_t> others_;
    std::vector<std::uint32_t> codes_; // by id, of segments that were learned
    std::size_t most_;
    bool overflowed_ = false;
    std::vector<TokenId> tokens_;
    std::vector<std::size_t> starts_; // by id, in tokens_
    std::vector<std::uint32_t> lengths_;
    std::vector<Count> weights_;
};

inline Segments::Character Segments::character_at(std::string_view text, std::size_t at) noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data()) + at;
    const std::size_t left = text.size() - at;
    const std::uint32_t lead = bytes[0];
    if (lead < 0x80) {
        return {lead, 1};
    }
    const auto continues = [&](std::size_t i) { return (bytes[i] & 0xC0U) == 0x80U; };
    // Strict, so that no two strings have one code; which of them are characters matters little.
    if (lead >= 0xE0 && lead < 0xF0 && left >= 3 && continues(1) && continues(2)) {
        const std::uint32_t code =
            (lead & 0x0FU) << 12U | (bytes[1] & 0x3FU) << 6U | (bytes[2] & 0x3FU);
        if (code >= 0x800) {
            return {code, 3};
        }
    } else if (lead >= 0xC2 && lead < 0xE0 && left >= 2 && continues(1)) {
        return {(lead & 0x1FU) << 6U | (bytes[1] & 0x3FU), 2};
    } else if (lead >= 0xF0 && left >= 4 && continues(1) && continues(2) && continues(3)) {
        const std::uint32_t code = (lead & 0x07U) << 18U | (bytes[1] & 0x3FU) << 12U |
                                   (bytes[2] & 0x3FU) << 6U | (bytes[3] & 0x3FU);
        if (code >= 0x10000 && code < code_points && lead < 0xF8) {
            return {code, 4};
        }
    }
    return {code_points + lead, 1};
}

} // namespace jogak
