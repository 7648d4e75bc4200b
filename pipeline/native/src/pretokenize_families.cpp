#include "pretokenize_families.hpp"

#include "jogak/unicode.hpp"
#include "pretokenize_atoms.hpp"

#include <array>

namespace jogak::pattern {

namespace {

struct Family {
    std::string_view pattern;
    simd::MaskRules rules;
};

constexpr simd::MaskRules gpt2{.gpt2 = true};
constexpr simd::MaskRules cl100k{.spaces_to_end = true};
constexpr simd::MaskRules llama3{};
constexpr simd::MaskRules qwen2{.single_digits = true};
constexpr simd::MaskRules o200k{.o200k = true};
constexpr simd::MaskRules tekken{.o200k = true, .contractions = false, .single_digits = true};

// As written in jogak.pretokenize, by Hugging Face, and by tiktoken 0.14 and before.
constexpr std::array<Family, 9> families{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)", gpt2},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+)"
     R"(| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)",
     cl100k},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s)",
     cl100k},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     qwen2},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
     R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
     R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     o200k},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
     R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
     R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     tekken},
}};

} // namespace

std::optional<simd::MaskRules> mask_rules(std::string_view pattern) {
    for (const Family& family : families) {
        if (family.pattern == pattern) {
            return family.rules;
        }
    }
    return std::nullopt;
}

ClassTable class_table(const simd::MaskRules& rules) {
    const CharacterClass capitals = unite(property_class("Lu"), property_class("Lt"));
    const CharacterClass letters = property_class("L");
    const CharacterClass marks = property_class("M");
    CharacterClass unknown = unite(property_class("N"), space_class());
    if (rules.o200k) {
        unknown = unite(unknown, marks);
    }
    const std::vector<CharacterClass> classes{letters, capitals, property_class("Ll"), unknown};
    std::vector<AtomSet> members;
    const Atoms atoms = partition(classes, members);
    ClassTable table{atoms.block_of, {}};
    constexpr std::array<std::uint8_t, 4> bits{simd::letter_bit, simd::upper_bit, simd::lower_bit,
                                               simd::unknown_bit};
    for (const Atom atom : atoms.blocks) {
        std::uint8_t kind = 0;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            kind = members[i][atom] ? static_cast<std::uint8_t>(kind | bits[i]) : kind;
        }
        table.class_of.push_back(kind == 0 ? std::uint8_t{simd::other_bit} : kind);
    }
    return table;
}

} // namespace jogak::pattern
