#include "jogak/boundary_table.hpp"

#include <algorithm>
#include <array>

namespace jogak {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t code_points = 1U << 16;
constexpr std::uint32_t first_hangul = 0xAC00;
constexpr std::uint32_t last_hangul = 0xD7A3;
/// At most 8 MB of bits; what is beyond joins everything. Published vocabularies stay below.
constexpr std::size_t most_classes = 8192;

[[nodiscard]] bool continues(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }
[[nodiscard]] bool leads_three(std::uint8_t byte) { return (byte & 0xF0) == 0xE0; }

[[nodiscard]] std::uint32_t decode_three(const std::uint8_t* bytes) {
    return (bytes[0] & 0x0FU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
}

/// What a part of a merge shows at the boundary: a whole character (below 2^16), or one or two
/// bytes of a three-byte character (part_1, part_2 plus the bytes), or nothing that can occur.
using Edge = std::uint32_t;
constexpr Edge part_1 = 1U << 16;
constexpr Edge part_2 = 1U << 17;
constexpr Edge no_edge = 0xFFFFFFFF;

[[nodiscard]] Edge part(const std::uint8_t* bytes, std::size_t size) {
    return size == 1 ? part_1 | bytes[0] : part_2 | static_cast<Edge>(bytes[0] << 8 | bytes[1]);
}

[[nodiscard]] Edge right_edge(Bytes left) {
    const std::uint8_t* end = left.data() + left.size();
    if (end[-1] < 0x80) {
        return end[-1];
    }
    std::size_t tail = 0;
    while (tail < left.size() && tail < 3 && continues(end[-1 - static_cast<int>(tail)])) {
        ++tail;
    }
    if (tail == left.size()) {
        return tail < 3 ? part(left.data(), tail) : no_edge;
    }
    return tail == 2 && leads_three(end[-3]) ? decode_three(end - 3) : no_edge;
}

[[nodiscard]] Edge left_edge(Bytes right) {
    if (right[0] < 0x80) {
        return right[0];
    }
    if (!leads_three(right[0])) {
        return no_edge;
    }
    if (right.size() < 3) {
        return part(right.data(), right.size());
    }
    return decode_three(right.data());
}

struct Rule {
    Edge left;
    Edge right;
};

/// The rows (or columns) of one side: which class a code point has, which classes an edge means.
class Side {
  public:
    Side() : order_(code_points, unseen) {}

    void see(Edge edge) {
        if (edge < code_points) {
            if (order_[edge] == unseen) {
                order_[edge] = next_++;
                whole_.push_back(edge);
            }
        } else if (parts_.emplace(edge, std::vector<std::uint32_t>{}).second) {
            part_list_.push_back(edge);
        }
    }

    /// Gives every character of an edge its own class, Hangul first (it shares cache lines then)
    /// and in order of appearance, which is by rank; all others share classes by their parts.
    template <class PartsOf> void number(PartsOf parts_of) {
        classes_.assign(code_points, 0);
        std::ranges::stable_partition(whole_,
                                      [](Edge e) { return first_hangul <= e && e <= last_hangul; });
        count_ = 1;
        for (const Edge character : whole_) {
            if (count_ < most_classes) {
                classes_[character] = static_cast<std::uint16_t>(count_++);
                join_parts(parts_of(character), classes_[character]);
            }
        }
        std::unordered_map<std::uint64_t, std::uint16_t> shared;
        for (std::uint32_t code = 0; code < code_points; ++code) {
            if (order_[code] != unseen || (code >= 0x80 && code < 0x800)) {
                continue;
            }
            const std::array<Edge, 2> found = parts_of(code);
            // ASCII apart: it joins ASCII, whatever the vocabulary says.
            const std::uint64_t signature =
                code < 0x80 ? 0
                            : static_cast<std::uint64_t>(known(found[0])) << 32 | known(found[1]);
            const auto [entry, fresh] = shared.try_emplace(signature, std::uint16_t{0});
            if (fresh && count_ < most_classes) {
                entry->second = static_cast<std::uint16_t>(count_++);
                join_parts(found, entry->second);
            }
            classes_[code] = entry->second;
        }
    }

    [[nodiscard]] std::uint16_t class_of(std::uint32_t code) const { return classes_[code]; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::vector<std::uint32_t>& classes_with(Edge part) const {
        return parts_.at(part);
    }
    [[nodiscard]] const std::vector<Edge>& parts() const { return part_list_; }

  private:
    static constexpr std::uint32_t unseen = 0xFFFFFFFF;

    [[nodiscard]] Edge known(Edge part) const { return parts_.contains(part) ? part : no_edge; }
    void join_parts(const std::array<Edge, 2>& found, std::uint32_t index) {
        for (const Edge edge : found) {
            if (const auto entry = parts_.find(edge); entry != parts_.end()) {
                entry->second.push_back(index);
            }
        }
    }

    std::vector<std::uint32_t> order_;
    std::uint32_t next_ = 0;
    std::vector<Edge> whole_;
    std::vector<Edge> part_list_;
    std::unordered_map<Edge, std::vector<std::uint32_t>> parts_;
    std::vector<std::uint16_t> classes_;
    std::size_t count_ = 0;
};

/// The proper prefixes of a three-byte character, as edges; of ASCII there are none.
std::array<Edge, 2> prefixes(std::uint32_t code) {
    if (code < 0x80) {
        return {no_edge, no_edge};
    }
    const std::array bytes{static_cast<std::uint8_t>(0xE0 | code >> 12),
                           static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F))};
    return {part(bytes.data(), 1), part(bytes.data(), 2)};
}

std::array<Edge, 2> suffixes(std::uint32_t code) {
    if (code < 0x80) {
        return {no_edge, no_edge};
    }
    const std::array bytes{static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F)),
                           static_cast<std::uint8_t>(0x80 | (code & 0x3F))};
    return {part(bytes.data() + 1, 1), part(bytes.data(), 2)};
}

} // namespace

struct BoundaryTable::Builder {
    const MergeTable& table;
    const BpeVocabulary& vocabulary;
    std::vector<Rule> rules;
    Side left;
    Side right;

    [[nodiscard]] Bytes bytes(Symbol symbol) const {
        const TokenId id = table.token(symbol);
        const auto begin = static_cast<std::size_t>(vocabulary.token_offsets[id]);
        const auto end = static_cast<std::size_t>(vocabulary.token_offsets[id + 1]);
        return vocabulary.token_data.subspan(begin, end - begin);
    }

    void add_rule(Bytes a, Bytes b) {
        const Rule rule{right_edge(a), left_edge(b)};
        if (rule.left != no_edge && rule.right != no_edge) {
            left.see(rule.left);
            right.see(rule.right);
            rules.push_back(rule);
        }
    }

    void collect() {
        for (auto symbol = first_merged_symbol; symbol < table.size(); ++symbol) {
            const auto [a, b] = table.parts(symbol);
            add_rule(bytes(a), bytes(b));
        }
        // A pretoken that stays whole although merging would not make it must not be cut anywhere.
        for (std::size_t i = 0; i < table.unmerged_size(); ++i) {
            const Bytes token = table.unmerged_bytes(i);
            for (std::size_t cut = 1; cut < token.size(); ++cut) {
                add_rule(token.first(cut), token.subspan(cut));
            }
        }
    }

    void set(BoundaryTable& result) const {
        const std::size_t words = (right.count() + 63) / 64;
        result.row_bits_ = static_cast<std::uint32_t>(words * 64);
        result.joined_.assign(left.count() * words, 0);
        std::unordered_map<Edge, std::vector<std::uint64_t>> columns;
        for (const Edge part : right.parts()) {
            std::vector<std::uint64_t>& bits = columns[part];
            bits.resize(words);
            for (const std::uint32_t column : right.classes_with(part)) {
                bits[column / 64] |= std::uint64_t{1} << (column % 64);
            }
        }
        const auto join = [&](std::size_t row, Edge edge) {
            std::uint64_t* bits = result.joined_.data() + row * words;
            if (edge < code_points) {
                const std::size_t column = right.class_of(edge);
                bits[column / 64] |= std::uint64_t{1} << (column % 64);
                return;
            }
            const std::vector<std::uint64_t>& more = columns.at(edge);
            std::ranges::transform(more, std::span(bits, words), bits, std::bit_or{});
        };
        for (const Rule& rule : rules) {
            if (rule.left < code_points) {
                join(left.class_of(rule.left), rule.right);
            } else {
                for (const std::uint32_t row : left.classes_with(rule.left)) {
                    join(row, rule.right);
                }
            }
        }
        join_always(result, words);
        result.classes_.resize(code_points);
        for (std::uint32_t code = 0; code < code_points; ++code) {
            result.classes_[code] =
                static_cast<std::uint32_t>(right.class_of(code)) << 16 | left.class_of(code);
        }
    }

    /// Class 0 with everything, and ASCII with ASCII.
    void join_always(BoundaryTable& result, std::size_t words) const {
        std::fill_n(result.joined_.begin(), words, ~std::uint64_t{0});
        std::vector<std::uint64_t> ascii(words);
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            const std::size_t column = right.class_of(code);
            ascii[column / 64] |= std::uint64_t{1} << (column % 64);
        }
        for (std::size_t row = 0; row < left.count(); ++row) {
            result.joined_[row * words] |= 1;
        }
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            std::uint64_t* bits = result.joined_.data() + left.class_of(code) * words;
            std::ranges::transform(ascii, std::span(bits, words), bits, std::bit_or{});
        }
    }
};

BoundaryTable::BoundaryTable(const MergeTable& table, const BpeVocabulary& vocabulary) {
    Builder builder{table, vocabulary, {}, {}, {}};
    builder.collect();
    builder.left.number(suffixes);
    builder.right.number(prefixes);
    builder.set(*this);
}

std::size_t BoundaryTable::memory_bytes() const noexcept {
    return classes_.size() * sizeof(classes_[0]) + joined_.size() * sizeof(joined_[0]);
}

} // namespace jogak
