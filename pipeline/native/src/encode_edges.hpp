// What the two parts of a merge show at a boundary between characters, and the classes that follow
// from it: the private half of encode_boundaries.cpp.
#pragma once

#include "jogak/boundary_table.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

namespace jogak::edges {

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::size_t code_points = 1U << 16;
[[nodiscard]] inline bool continues(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }
[[nodiscard]] inline bool leads_three(std::uint8_t byte) { return (byte & 0xF0) == 0xE0; }

[[nodiscard]] inline std::uint32_t decode_three(const std::uint8_t* bytes) {
    return (bytes[0] & 0x0FU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
}

/// What a part of a merge shows at the boundary: a whole character (below 2^16), or one or two
/// bytes of a three-byte character (part_1, part_2 plus the bytes), or nothing that can occur.
using Edge = std::uint32_t;
inline constexpr Edge part_1 = 1U << 16;
inline constexpr Edge part_2 = 1U << 17;
inline constexpr Edge no_edge = 0xFFFFFFFF;

[[nodiscard]] inline bool is_hangul(Edge edge) { return 0xAC00 <= edge && edge <= 0xD7A3; }

[[nodiscard]] inline Edge part(const std::uint8_t* bytes, std::size_t size) {
    return size == 1 ? part_1 | bytes[0] : part_2 | static_cast<Edge>(bytes[0] << 8 | bytes[1]);
}

[[nodiscard]] inline Edge right_edge(Bytes left) {
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

[[nodiscard]] inline Edge left_edge(Bytes right) {
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

/// A merge of two symbols with these edges can cross a boundary; `result` is what it makes.
struct Rule {
    Edge left;
    Edge right;
    Symbol result;
};

/// The rows (or columns) of one side: which class a code point has, which classes an edge means.
class Side {
  public:
    explicit Side(std::size_t most_classes) : most_(most_classes), seen_(code_points) {}

    void see(Edge edge) {
        if (edge < code_points) {
            if (!seen_[edge]) {
                seen_[edge] = true;
                whole_.push_back(edge);
            }
        } else if (parts_.emplace(edge, std::vector<std::uint32_t>{}).second) {
            part_list_.push_back(edge);
        }
    }

    /// Gives every character of an edge its own class, Hangul first (it shares cache lines then)
    /// and in order of appearance, which is by rank; all others share classes by their parts.
    /// `parts_of` is the same for all code points of a group (4,096 groups at most).
    template <class PartsOf, class GroupOf> void number(PartsOf parts_of, GroupOf group_of) {
        classes_.assign(code_points, 0);
        std::ranges::stable_partition(whole_, is_hangul);
        count_ = 1;
        for (const Edge character : whole_) {
            if (count_ < most_) {
                classes_[character] = static_cast<std::uint16_t>(count_++);
                join_parts(parts_of(character), classes_[character]);
            }
        }
        // ASCII apart: it joins ASCII, whatever the vocabulary says.
        const std::uint16_t ascii = add_class({no_edge, no_edge});
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            classes_[code] = seen_[code] ? classes_[code] : ascii;
        }
        std::unordered_map<std::uint64_t, std::uint16_t> shared;
        std::array<std::int32_t, 4096> of_group;
        of_group.fill(-1);
        for (std::uint32_t code = 0x800; code < code_points; ++code) {
            if (seen_[code]) {
                continue;
            }
            std::int32_t& index = of_group[group_of(code)];
            if (index < 0) {
                const std::array<Edge, 2> found = parts_of(code);
                const std::uint64_t signature =
                    static_cast<std::uint64_t>(known(found[0])) << 32 | known(found[1]);
                const auto [entry, fresh] = shared.try_emplace(signature, std::uint16_t{0});
                if (fresh) {
                    entry->second = add_class(found);
                }
                index = entry->second;
            }
            classes_[code] = static_cast<std::uint16_t>(index);
        }
    }

    [[nodiscard]] bool sees(std::uint32_t code) const { return seen_[code]; }
    [[nodiscard]] std::uint16_t class_of(std::uint32_t code) const { return classes_[code]; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::vector<std::uint32_t>& classes_with(Edge part) const {
        return parts_.at(part);
    }
    [[nodiscard]] const std::vector<Edge>& parts() const { return part_list_; }

  private:
    [[nodiscard]] Edge known(Edge part) const { return parts_.contains(part) ? part : no_edge; }
    [[nodiscard]] std::uint16_t add_class(const std::array<Edge, 2>& found) {
        if (count_ == most_) {
            return 0;
        }
        const auto index = static_cast<std::uint16_t>(count_++);
        join_parts(found, index);
        return index;
    }
    void join_parts(const std::array<Edge, 2>& found, std::uint32_t index) {
        for (const Edge edge : found) {
            if (const auto entry = parts_.find(edge); entry != parts_.end()) {
                entry->second.push_back(index);
            }
        }
    }

    std::size_t most_;
    std::vector<bool> seen_;
    std::vector<Edge> whole_;
    std::vector<Edge> part_list_;
    std::unordered_map<Edge, std::vector<std::uint32_t>> parts_;
    std::vector<std::uint16_t> classes_;
    std::size_t count_ = 0;
};

/// The proper prefixes of a three-byte character, as edges; of ASCII there are none.
[[nodiscard]] inline std::array<Edge, 2> prefixes(std::uint32_t code) {
    if (code < 0x80) {
        return {no_edge, no_edge};
    }
    const std::array bytes{static_cast<std::uint8_t>(0xE0 | code >> 12),
                           static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F))};
    return {part(bytes.data(), 1), part(bytes.data(), 2)};
}

[[nodiscard]] inline std::array<Edge, 2> suffixes(std::uint32_t code) {
    if (code < 0x80) {
        return {no_edge, no_edge};
    }
    const std::array bytes{static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F)),
                           static_cast<std::uint8_t>(0x80 | (code & 0x3F))};
    return {part(bytes.data() + 1, 1), part(bytes.data(), 2)};
}

} // namespace jogak::edges
