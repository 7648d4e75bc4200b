#include "character_tables.hpp"
#include "jogak/train.hpp"

#include <stdexcept>

namespace jogak {

CharacterCounts count_characters(const Documents& pretokens, std::span<const Count> counts) {
    if (counts.size() != pretokens.size()) {
        throw std::invalid_argument("counts must have one entry for each pretoken");
    }
    CharacterCounts found{std::vector<Count>(CharacterCounts::code_points),
                          std::vector<std::uint8_t>(CharacterCounts::code_points)};
    for (std::size_t i = 0; i < pretokens.size(); ++i) {
        const std::string_view text = pretokens[i];
        std::uint32_t last = 0;
        for (std::size_t at = 0; at < text.size();) {
            const Character next =
                decode_character(reinterpret_cast<const std::uint8_t*>(text.data()) + at);
            last = next.code;
            found.occurrences[last] += counts[i];
            at += next.size;
        }
        if (!text.empty()) {
            found.ends[last] = 1;
        }
    }
    return found;
}

} // namespace jogak
