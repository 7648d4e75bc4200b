// How the tokens of a vocabulary come about when their bytes are merged. Private to encode.
#pragma once

#include "jogak/merge_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace jogak::derivation {

using Bytes = std::span<const std::uint8_t>;

/// A power of two that `count` entries fill to at most half.
inline std::size_t table_size(std::size_t count) { return std::bit_ceil(2 * count + 2); }

/// Rule `ranks` while the vocabulary is read: a span of bytes merges if it is a token.
class RankRule {
  public:
    explicit RankRule(const TokenIndex& index) : index_(&index) {}
    [[nodiscard]] std::uint32_t order(Bytes joined, TokenId, TokenId) const noexcept {
        return index_->find(joined);
    }
    [[nodiscard]] TokenId result(std::uint32_t order) const noexcept { return order; }
    [[nodiscard]] std::size_t orders() const noexcept { return index_->size(); }

  private:
    const TokenIndex* index_;
};

/// Rule `pairs` while the vocabulary is read: every listed pair, by ids.
class PairRule {
  public:
    explicit PairRule(std::span<const std::uint32_t> merges)
        : merges_(merges), slots_(table_size(merges.size() / 3), empty),
          shift_(64 - std::countr_zero(slots_.size())) {
        for (std::uint32_t order = 0; order < merges.size() / 3; ++order) {
            // A pair listed again takes the later place, as in Hugging Face's map of merges.
            slots_[find(merges[order * 3], merges[order * 3 + 1])] = order;
        }
    }
    [[nodiscard]] std::uint32_t order(Bytes, TokenId left, TokenId right) const noexcept {
        return slots_[find(left, right)];
    }
    [[nodiscard]] TokenId result(std::uint32_t order) const noexcept {
        return merges_[order * 3 + 2];
    }
    [[nodiscard]] std::size_t orders() const noexcept { return merges_.size() / 3; }

  private:
    static constexpr std::uint32_t empty = no_symbol;

    [[nodiscard]] std::size_t find(TokenId left, TokenId right) const noexcept {
        const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | right;
        std::size_t slot = fold_product(key ^ hash_constant_a, hash_constant_b) >> shift_;
        while (slots_[slot] != empty && (merges_[slots_[slot] * std::size_t{3}] != left ||
                                         merges_[slots_[slot] * std::size_t{3} + 1] != right)) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slot;
    }
    std::span<const std::uint32_t> merges_;
    std::vector<std::uint32_t> slots_;
    int shift_;
};

/// How a token comes about when its bytes are merged alone.
struct LastMerge {
    std::uint32_t order = no_symbol; // no_symbol: merging does not make it
    TokenId left = no_token;
    TokenId right = no_token;
};

/// Merges the bytes of tokens alone, one token after the other.
template <class Rule> class Derivation {
  public:
    Derivation(const Rule& rule, const std::array<TokenId, 256>& byte_tokens)
        : rule_(&rule), byte_tokens_(&byte_tokens), byte_orders_(1U << 16, unknown) {}

    [[nodiscard]] LastMerge last_merge(Bytes bytes) {
        return bytes.size() < long_token ? last_merge_by_scanning(bytes)
                                         : last_merge_by_queue(bytes);
    }

  private:
    static constexpr std::uint32_t unknown = no_symbol - 1;
    /// From here on a queue pays off; scanning takes quadratic time.
    static constexpr std::size_t long_token = 256;

    [[nodiscard]] LastMerge last_merge_by_scanning(Bytes bytes) {
        ids_.clear();
        starts_.clear();
        orders_.clear();
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            if ((*byte_tokens_)[bytes[i]] == no_token) {
                return {};
            }
            ids_.push_back((*byte_tokens_)[bytes[i]]);
            starts_.push_back(i);
        }
        starts_.push_back(bytes.size());
        for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
            orders_.push_back(byte_order(bytes, i));
        }
        LastMerge last;
        while (ids_.size() > 1) {
            const auto lowest = std::ranges::min_element(orders_);
            if (*lowest == no_symbol) {
                return {};
            }
            const auto at = lowest - orders_.begin();
            last = {*lowest, ids_[static_cast<std::size_t>(at)],
                    ids_[static_cast<std::size_t>(at) + 1]};
            replace(bytes, at, rule_->result(last.order));
        }
        return last;
    }

    /// A pair that may be merged, as it was when it was queued.
    struct Waiting {
        std::uint32_t order;
        std::uint32_t at;    // byte at which its left part begins
        std::uint32_t right; // ... its right part
        std::uint32_t end;   // ... what follows
        TokenId left_id;
        TokenId right_id;
        [[nodiscard]] bool operator>(const Waiting& other) const noexcept {
            return order != other.order ? order > other.order : at > other.at;
        }
    };

    /// The same in O(n log n), for tokens that only hostile text and files have.
    [[nodiscard]] LastMerge last_merge_by_queue(Bytes bytes) {
        if (bytes.size() >= no_symbol) {
            throw std::invalid_argument("encoder: a token of " + std::to_string(bytes.size()) +
                                        " bytes; it must have fewer than 2^32");
        }
        const auto size = static_cast<std::uint32_t>(bytes.size());
        // By the byte at which a part begins: its id, where it ends, and where the one before it
        // begins. A part that was merged into the one before it has the id no_token.
        std::vector<TokenId> ids(size + std::size_t{1}, no_token);
        std::vector<std::uint32_t> ends(size);
        std::vector<std::uint32_t> before(size + std::size_t{1});
        for (std::uint32_t i = 0; i < size; ++i) {
            ids[i] = (*byte_tokens_)[bytes[i]];
            if (ids[i] == no_token) {
                return {};
            }
            ends[i] = i + 1;
            before[i + std::size_t{1}] = i;
        }
        std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
        const auto push = [&](std::uint32_t at) {
            const std::uint32_t right = ends[at];
            if (right == size) {
                return;
            }
            const std::uint32_t end = ends[right];
            const std::uint32_t order =
                rule_->order(bytes.subspan(at, end - at), ids[at], ids[right]);
            if (order != no_symbol) {
                queue.push({order, at, right, end, ids[at], ids[right]});
            }
        };
        for (std::uint32_t i = 0; i < size; ++i) {
            push(i);
        }
        LastMerge last;
        while (!queue.empty()) {
            const Waiting next = queue.top();
            queue.pop();
            if (ids[next.at] != next.left_id || ends[next.at] != next.right ||
                ids[next.right] != next.right_id || ends[next.right] != next.end) {
                continue; // one of the parts is no longer what it was
            }
            last = {next.order, next.left_id, next.right_id};
            ids[next.at] = rule_->result(next.order);
            ids[next.right] = no_token;
            ends[next.at] = next.end;
            before[next.end] = next.at;
            push(next.at);
            if (next.at > 0) {
                push(before[next.at]);
            }
        }
        return ends[0] == size ? last : LastMerge{};
    }

    /// Pairs of bytes begin every derivation, so their orders are kept.
    [[nodiscard]] std::uint32_t byte_order(Bytes bytes, std::size_t at) {
        std::uint32_t& known = byte_orders_[bytes[at] * 256U + bytes[at + 1]];
        if (known == unknown) {
            known = rule_->order(bytes.subspan(at, 2), ids_[at], ids_[at + 1]);
        }
        return known;
    }

    void replace(Bytes bytes, std::ptrdiff_t at, TokenId id) {
        const auto index = static_cast<std::size_t>(at);
        ids_[index] = id;
        ids_.erase(ids_.begin() + at + 1);
        starts_.erase(starts_.begin() + at + 1);
        orders_.erase(orders_.begin() + at);
        if (index > 0) {
            orders_[index - 1] = order(bytes, index - 1);
        }
        if (index + 1 < ids_.size()) {
            orders_[index] = order(bytes, index);
        }
    }

    [[nodiscard]] std::uint32_t order(Bytes bytes, std::size_t at) const {
        const std::size_t begin = starts_[at];
        return rule_->order(bytes.subspan(begin, starts_[at + 2] - begin), ids_[at], ids_[at + 1]);
    }

    const Rule* rule_;
    const std::array<TokenId, 256>* byte_tokens_;
    std::vector<std::uint32_t> byte_orders_;
    std::vector<TokenId> ids_;
    std::vector<std::size_t> starts_;
    std::vector<std::uint32_t> orders_;
};

} // namespace jogak::derivation
