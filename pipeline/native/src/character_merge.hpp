// Merging the symbols of one word: the private half of encode_characters.cpp.
#pragma once

#include "character_tables.hpp"

#include <algorithm>
#include <vector>

namespace jogak {

/// One symbol of a word while it is merged; removed ones have no bytes.
struct Node {
    TokenId id;
    std::uint32_t size;
    std::uint32_t previous;
    std::uint32_t next;
};
inline constexpr std::uint32_t no_node = 0xFFFFFFFF;

struct Entry {
    std::uint32_t rank;
    std::uint32_t position;
    TokenId result;
    /// The queue's order: lowest rank first, then leftmost.
    friend bool operator<(const Entry& a, const Entry& b) noexcept {
        return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
    }
};

inline void push(std::vector<Entry>& queue, const PairTable& pairs, const std::vector<Node>& nodes,
                 std::uint32_t left, std::uint32_t right) {
    const PairTable::Merge merge = pairs.find(nodes[left].id, nodes[right].id);
    if (merge.rank != no_rank) {
        queue.push_back({merge.rank, left, merge.result});
        std::push_heap(queue.begin(), queue.end());
    }
}

/// Merges nodes in place. Source: tokenizers, models/bpe/word.rs, `merge_all`.
inline void merge_nodes(const PairTable& pairs, std::vector<Node>& nodes,
                        std::vector<Entry>& queue) {
    queue.clear();
    for (std::uint32_t left = 0; left + 1 < nodes.size(); ++left) {
        push(queue, pairs, nodes, left, left + 1);
    }
    while (!queue.empty()) {
        const Entry top = queue.front();
        std::pop_heap(queue.begin(), queue.end());
        queue.pop_back();
        Node& left = nodes[top.position];
        if (left.size == 0 || left.next == no_node) {
            continue;
        }
        Node& right = nodes[left.next];
        const PairTable::Merge merge = pairs.find(left.id, right.id);
        if (merge.rank == no_rank || merge.result != top.result) {
            continue;
        }
        left.id = top.result;
        left.size += right.size;
        left.next = right.next;
        right.size = 0;
        if (right.next != no_node) {
            nodes[right.next].previous = top.position;
        }
        if (left.previous != no_node) {
            push(queue, pairs, nodes, left.previous, top.position);
        }
        if (left.next != no_node) {
            push(queue, pairs, nodes, top.position, left.next);
        }
    }
}

} // namespace jogak
