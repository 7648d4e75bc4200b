#include "encode_edges.hpp"

#include <functional>

namespace jogak {

namespace {

using namespace edges;

using Bits = std::vector<std::uint64_t>;

void set_bit(Bits& bits, std::size_t index) {
    bits[index / 64] |= std::uint64_t{1} << (index % 64);
}

void merge_bits(std::span<std::uint64_t> bits, std::span<const std::uint64_t> more) {
    std::ranges::transform(bits, more, bits.begin(), std::bit_or{});
}

} // namespace

struct BoundaryTable::Builder {
    const MergeTable& table;
    const BpeVocabulary& vocabulary;
    Side left;
    Side right;
    std::vector<Rule> rules{};
    std::vector<Symbol> characters = std::vector<Symbol>(code_points, no_symbol);
    std::vector<Symbol> highest{}; // by symbol: the highest in its derivation
    // By class of a side: the code point that has it alone, or no_symbol.
    std::vector<std::uint32_t> left_codes{};
    std::vector<std::uint32_t> right_codes{};

    [[nodiscard]] Bytes bytes(Symbol symbol) const {
        const TokenId id = table.token(symbol);
        const auto begin = static_cast<std::size_t>(vocabulary.token_offsets[id]);
        const auto end = static_cast<std::size_t>(vocabulary.token_offsets[id + 1]);
        return vocabulary.token_data.subspan(begin, end - begin);
    }

    void add_rule(Bytes a, Bytes b, Symbol result) {
        const Rule rule{right_edge(a), left_edge(b), result};
        if (rule.left != no_edge && rule.right != no_edge) {
            left.see(rule.left);
            right.see(rule.right);
            rules.push_back(rule);
        }
    }

    void collect_rules() {
        for (auto symbol = first_merged_symbol; symbol < table.size(); ++symbol) {
            const auto [a, b] = table.parts(symbol);
            add_rule(bytes(a), bytes(b), symbol);
        }
        // A pretoken that stays whole although merging would not make it must not be cut anywhere.
        for (std::size_t i = 0; i < table.unmerged_size(); ++i) {
            const Bytes token = table.unmerged_bytes(i);
            for (std::size_t cut = 1; cut < token.size(); ++cut) {
                add_rule(token.first(cut), token.subspan(cut), no_symbol);
            }
        }
    }

    void collect_characters() {
        for (Symbol byte = 0; byte < 0x80; ++byte) {
            characters[byte] = byte;
        }
        find_highest();
        for (auto symbol = first_merged_symbol; symbol < table.size(); ++symbol) {
            const Bytes token = bytes(symbol);
            if (token.size() == 3 && leads_three(token[0])) {
                characters[decode_three(token.data())] = symbol;
            }
        }
        for (auto symbol = first_merged_symbol; symbol < table.size(); ++symbol) {
            const Bytes token = bytes(symbol);
            for (std::size_t i = 0; i + 3 <= token.size() && token.size() > 3; ++i) {
                if (leads_three(token[i])) {
                    Symbol& held = characters[decode_three(token.data() + i)];
                    if (held != no_symbol && symbol < highest[held]) {
                        held = no_symbol;
                    }
                }
            }
        }
    }

    /// Parts may have higher symbols than what they make, so a derivation is walked to its ends.
    void find_highest() {
        highest.assign(table.size(), 0);
        std::vector<Symbol> pending;
        for (auto symbol = first_merged_symbol; symbol < table.size(); ++symbol) {
            pending.push_back(symbol);
            while (!pending.empty()) {
                const Symbol top = pending.back();
                const auto [a, b] = table.parts(top);
                const bool ready = (a < first_merged_symbol || highest[a] != 0) &&
                                   (b < first_merged_symbol || highest[b] != 0);
                if (ready) {
                    highest[top] = std::max({top, highest[a], highest[b]});
                    pending.pop_back();
                    continue;
                }
                for (const Symbol part : {a, b}) {
                    if (part >= first_merged_symbol && highest[part] == 0) {
                        pending.push_back(part);
                    }
                }
            }
        }
    }

    /// Whether a merge with a part of the character comes before it is complete.
    [[nodiscard]] bool disturbs(const Rule& rule, std::uint32_t code) const {
        return characters[code] != no_symbol && rule.result < highest[characters[code]];
    }

    /// Characters that some partial merge disturbs need a class of their own.
    void see_disturbed() {
        std::unordered_map<Edge, Symbol> lowest;
        for (const Rule& rule : rules) {
            for (const Edge edge : {rule.left, rule.right}) {
                if (edge >= code_points) {
                    const auto [entry, fresh] = lowest.try_emplace(edge, rule.result);
                    entry->second = std::min(entry->second, rule.result);
                }
            }
        }
        for (std::uint32_t code = 0x800; code < code_points; ++code) {
            if (characters[code] == no_symbol) {
                continue;
            }
            const auto disturbed = [&](const std::array<Edge, 2>& parts) {
                return std::ranges::any_of(parts, [&](Edge edge) {
                    const auto entry = lowest.find(edge);
                    return entry != lowest.end() && entry->second < highest[characters[code]];
                });
            };
            if (disturbed(suffixes(code))) {
                left.see(code);
            }
            if (disturbed(prefixes(code))) {
                right.see(code);
            }
        }
    }

    /// Rows, columns: the classes with an edge, as a list and as bits.
    struct Classes {
        std::vector<std::uint32_t> list;
        Bits bits;
    };
    [[nodiscard]] static Classes classes_of(const Side& side, Edge edge) {
        Classes classes;
        classes.bits.resize((side.count() + 63) / 64);
        if (edge < code_points) {
            classes.list.push_back(side.class_of(edge));
        } else {
            classes.list = side.classes_with(edge);
        }
        for (const std::uint32_t index : classes.list) {
            set_bit(classes.bits, index);
        }
        return classes;
    }

    void fill(BoundaryTable& result) const {
        const std::size_t words = (right.count() + 63) / 64;
        result.row_bits_ = static_cast<std::uint32_t>(words * 64);
        result.joined_.assign(left.count() * words, 0);
        const auto row_bits = [&](std::size_t row) {
            return std::span(result.joined_).subspan(row * words, words);
        };
        std::unordered_map<Edge, Classes> part_rows;
        std::unordered_map<Edge, Classes> part_columns;
        for (const Edge edge : left.parts()) {
            part_rows.emplace(edge, classes_of(left, edge));
        }
        for (const Edge edge : right.parts()) {
            part_columns.emplace(edge, classes_of(right, edge));
        }
        for (const Rule& rule : rules) {
            result.hangul_merges_ += is_hangul(rule.left) && is_hangul(rule.right);
            const std::size_t column = right.class_of(rule.right % code_points);
            if (rule.left < code_points && rule.right < code_points) {
                row_bits(left.class_of(rule.left))[column / 64] |= std::uint64_t{1} << column % 64;
                continue;
            }
            const Classes rows =
                rule.left < code_points ? classes_of(left, rule.left) : part_rows.at(rule.left);
            const Classes columns = rule.right < code_points ? classes_of(right, rule.right)
                                                             : part_columns.at(rule.right);
            for (const std::uint32_t row : rows.list) {
                merge_bits(row_bits(row), columns.bits);
            }
            add_parts(result, rule, rows, columns);
        }
        join_margins(result, words);
        result.classes_.resize(code_points);
        for (std::uint32_t code = 0; code < code_points; ++code) {
            result.classes_[code] =
                static_cast<std::uint32_t>(right.class_of(code)) << 16 | left.class_of(code);
        }
        result.characters_ = characters;
    }

    void add_parts(BoundaryTable& result, const Rule& rule, const Classes& rows,
                   const Classes& columns) const {
        if (rule.left >= code_points) {
            for (const std::uint32_t row : rows.list) {
                if (left_codes[row] != no_symbol && disturbs(rule, left_codes[row])) {
                    result.left_parts_.add(row, columns.bits);
                }
            }
        }
        if (rule.right >= code_points) {
            for (const std::uint32_t column : columns.list) {
                if (right_codes[column] != no_symbol && disturbs(rule, right_codes[column])) {
                    result.right_parts_.add(column, rows.bits);
                }
            }
        }
    }

    /// By class: the code point that has it alone, or no_symbol.
    [[nodiscard]] static std::vector<std::uint32_t> own_classes(const Side& side) {
        std::vector<std::uint32_t> codes(side.count(), no_symbol);
        for (std::uint32_t code = 0; code < code_points; ++code) {
            if (side.sees(code) && side.class_of(code) != 0) {
                codes[side.class_of(code)] = code;
            }
        }
        return codes;
    }

    /// Class 0 with everything, and ASCII with ASCII.
    void join_margins(BoundaryTable& result, std::size_t words) const {
        Bits ascii(words);
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            set_bit(ascii, right.class_of(code));
        }
        const std::span<std::uint64_t> joined = result.joined_;
        std::ranges::fill(joined.first(words), ~std::uint64_t{0});
        for (std::size_t row = 0; row < left.count(); ++row) {
            joined[row * words] |= 1;
        }
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            merge_bits(joined.subspan(left.class_of(code) * words, words), ascii);
        }
    }
};

void PartRows::add(std::size_t row, std::span<const std::uint64_t> columns) {
    if (index_[row] == 0) {
        index_[row] = static_cast<std::uint16_t>(bits_.size() / words_);
        bits_.resize(bits_.size() + words_);
        bits_[index_[row] * words_] = 1;
    }
    merge_bits(std::span(bits_).subspan(index_[row] * words_, words_), columns);
}

BoundaryTable::BoundaryTable(const MergeTable& table, const BpeVocabulary& vocabulary,
                             FindCuts* kernel, std::size_t most_classes)
    : find_cuts_(kernel) {
    Builder builder{table, vocabulary, Side(most_classes), Side(most_classes)};
    builder.collect_rules();
    builder.collect_characters();
    builder.see_disturbed();
    builder.left.number(suffixes, [](std::uint32_t code) { return code & 0xFFF; });
    builder.right.number(prefixes, [](std::uint32_t code) { return code >> 6; });
    builder.left_codes = Builder::own_classes(builder.left);
    builder.right_codes = Builder::own_classes(builder.right);
    left_parts_ = PartRows(builder.left.count(), builder.right.count());
    right_parts_ = PartRows(builder.right.count(), builder.left.count());
    builder.fill(*this);
}

} // namespace jogak
