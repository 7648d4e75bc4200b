// Construction of TokenIndex and MergeTable: checks, and which merges can ever fire.
#include "jogak/merge_table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("encoder: " + what); }

/// A power of two that `count` entries fill to at most half.
std::size_t table_size(std::size_t count) { return std::bit_ceil(2 * count + 2); }

void check_offsets(const BpeVocabulary& vocabulary) {
    const auto offsets = vocabulary.token_offsets;
    if (offsets.empty() || offsets.front() < 0 || !std::ranges::is_sorted(offsets) ||
        static_cast<std::size_t>(offsets.back()) > vocabulary.token_data.size()) {
        fail("token_offsets must ascend from 0 or more to at most the size of token_data (" +
             std::to_string(vocabulary.token_data.size()) + "), with one entry more than ids");
    }
}

std::string name_merge(std::size_t index, std::span<const std::uint32_t> merge) {
    return "merge " + std::to_string(index) + " (" + std::to_string(merge[0]) + ", " +
           std::to_string(merge[1]) + " -> " + std::to_string(merge[2]) + ")";
}

void check_merges(const BpeVocabulary& vocabulary, const TokenIndex& index) {
    const auto merges = vocabulary.merges;
    if (vocabulary.rule == MergeRule::ranks) {
        if (!merges.empty()) {
            fail("rule 'ranks' takes no merges, but " + std::to_string(merges.size()) +
                 " numbers "
                 "were given");
        }
        return;
    }
    if (merges.size() % 3 != 0) {
        fail("merges must hold left, right and result of each merge, but has " +
             std::to_string(merges.size()) + " numbers");
    }
    for (std::size_t i = 0; i * 3 < merges.size(); ++i) {
        const auto merge = merges.subspan(i * 3, 3);
        for (const std::uint32_t id : merge) {
            if (id >= index.size()) {
                fail(name_merge(i, merge) + ": id " + std::to_string(id) + " is not below " +
                     std::to_string(index.size()) + ", the number of ids");
            }
            if (index.bytes(id).empty()) {
                fail(name_merge(i, merge) + ": id " + std::to_string(id) + " has no bytes");
            }
        }
        const Bytes left = index.bytes(merge[0]);
        const Bytes right = index.bytes(merge[1]);
        const Bytes result = index.bytes(merge[2]);
        if (result.size() != left.size() + right.size() ||
            !std::ranges::equal(result.first(left.size()), left) ||
            !std::ranges::equal(result.subspan(left.size()), right)) {
            fail(name_merge(i, merge) +
                 ": the result's bytes are not the joined bytes of its parts");
        }
    }
}

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

  private:
    static constexpr std::uint32_t unknown = no_symbol - 1;

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

struct Derived {
    std::vector<LastMerge> last; // by id
    std::vector<TokenId> ranked; // ids that merging makes, by the rank of their last merge
};

template <class Rule>
Derived derive(const TokenIndex& index, const Rule& rule,
               const std::array<TokenId, 256>& byte_tokens) {
    Derived derived;
    derived.last.resize(index.size());
    std::vector<TokenId> by_order(rule.orders(), no_token);
    Derivation<Rule> derivation(rule, byte_tokens);
    for (TokenId id = 0; id < index.size(); ++id) {
        if (index.bytes(id).size() > 1) {
            derived.last[id] = derivation.last_merge(index.bytes(id));
            if (derived.last[id].order != no_symbol) {
                by_order[derived.last[id].order] = id;
            }
        }
    }
    std::ranges::copy_if(by_order, std::back_inserter(derived.ranked),
                         [](TokenId id) { return id != no_token; });
    return derived;
}

} // namespace

TokenIndex::TokenIndex(Bytes data, std::span<const std::int64_t> offsets)
    : data_(data), offsets_(offsets), entries_(table_size(size()), Entry{0, no_token}),
      mask_(entries_.size() - 1) {
    for (TokenId id = 0; id < size(); ++id) {
        const Bytes token = bytes(id);
        if (token.empty()) {
            continue;
        }
        const std::uint64_t hash = hash_bytes(token.data(), token.size());
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t slot = hash & mask_;
        for (; entries_[slot].id != no_token; slot = (slot + 1) & mask_) {
            if (entries_[slot].tag == tag && std::ranges::equal(bytes(entries_[slot].id), token)) {
                fail("ids " + std::to_string(entries_[slot].id) + " and " + std::to_string(id) +
                     " have the same bytes");
            }
        }
        entries_[slot] = {tag, id};
    }
}

TokenId TokenIndex::find(Bytes sought) const noexcept {
    const std::uint64_t hash = hash_bytes(sought.data(), sought.size());
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t slot = hash & mask_; entries_[slot].id != no_token;
         slot = (slot + 1) & mask_) {
        if (entries_[slot].tag == tag) {
            const Bytes found = bytes(entries_[slot].id);
            if (found.size() == sought.size() &&
                std::memcmp(found.data(), sought.data(), sought.size()) == 0) {
                return entries_[slot].id;
            }
        }
    }
    return no_token;
}

MergeTable::MergeTable(const BpeVocabulary& vocabulary) {
    check_offsets(vocabulary);
    const TokenIndex index(vocabulary.token_data, vocabulary.token_offsets);
    check_merges(vocabulary, index);

    std::array<TokenId, 256> byte_tokens;
    for (std::size_t byte = 0; byte < byte_tokens.size(); ++byte) {
        const auto value = static_cast<std::uint8_t>(byte);
        byte_tokens[byte] = index.find({&value, 1});
    }
    const Derived derived = vocabulary.rule == MergeRule::ranks
                                ? derive(index, RankRule(index), byte_tokens)
                                : derive(index, PairRule(vocabulary.merges), byte_tokens);
    if (derived.ranked.size() + first_merged_symbol >= std::size_t{1} << symbol_bits) {
        fail("more than " + std::to_string((1U << symbol_bits) - first_merged_symbol - 1) +
             " tokens (" + std::to_string(derived.ranked.size()) + ")");
    }

    std::vector<Symbol> symbols(index.size(), no_symbol);
    tokens_.assign(byte_tokens.begin(), byte_tokens.end());
    for (Symbol byte = 0; byte < byte_tokens.size(); ++byte) {
        if (byte_tokens[byte] != no_token) {
            symbols[byte_tokens[byte]] = byte;
        }
    }
    for (const TokenId id : derived.ranked) {
        symbols[id] = static_cast<Symbol>(tokens_.size());
        tokens_.push_back(id);
    }
    for (const TokenId id : derived.ranked) {
        const LastMerge& last = derived.last[id];
        parts_.emplace_back(symbols[last.left], symbols[last.right]);
    }
    add_pairs();

    if (vocabulary.whole_first) {
        std::vector<TokenId> ids;
        for (TokenId id = 0; id < index.size(); ++id) {
            if (!index.bytes(id).empty() && symbols[id] == no_symbol) {
                ids.push_back(id);
            }
        }
        add_unmerged(index, std::move(ids));
    }
}

void MergeTable::add_pairs() {
    const std::size_t slots = std::max<std::size_t>(table_size(parts_.size()), 1024);
    // Probing goes on past the end instead of around it; room for that, and an empty slot behind.
    std::vector<std::uint64_t> pairs(slots + slots / 8, no_pair);
    pair_shift_ = static_cast<unsigned>(64 - std::countr_zero(slots));
    // Eight bits per entry: about 1 in 9 absent pairs gets past them.
    const std::size_t bits = slots * 4;
    presence_.assign(bits / 64, 0);
    presence_shift_ = static_cast<unsigned>(64 - std::countr_zero(bits));
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::uint64_t key = pair_key(parts_[i].first, parts_[i].second);
        const std::uint64_t hash = key * pair_multiplier;
        const std::size_t bit = hash >> presence_shift_;
        presence_[bit / 64] |= std::uint64_t{1} << (bit % 64);
        std::size_t slot = hash >> pair_shift_;
        while (pairs[slot] != no_pair) {
            if (++slot + 1 == pairs.size()) {
                pairs.resize(pairs.size() + slots / 8, no_pair);
            }
        }
        pairs[slot] =
            static_cast<std::uint64_t>(first_merged_symbol + i) << (2 * symbol_bits) | key;
    }
    pairs_size_ = pairs.size();
    pair_pages_.emplace(pairs_size_);
    pairs_ = pair_pages_->data();
    std::ranges::copy(pairs, pairs_);
}

void MergeTable::add_unmerged(const TokenIndex& index, std::vector<TokenId> ids) {
    if (ids.empty()) {
        return;
    }
    unmerged_offsets_.push_back(0);
    for (const TokenId id : ids) {
        const Bytes token = index.bytes(id);
        unmerged_data_.insert(unmerged_data_.end(), token.begin(), token.end());
        unmerged_offsets_.push_back(static_cast<std::int64_t>(unmerged_data_.size()));
    }
    unmerged_ids_ = std::move(ids);
    unmerged_.emplace(unmerged_data_, unmerged_offsets_);
}

TokenId MergeTable::find_unmerged(Bytes bytes) const noexcept {
    if (!unmerged_) {
        return no_token;
    }
    const TokenId found = unmerged_->find(bytes);
    return found == no_token ? no_token : unmerged_ids_[found];
}

std::size_t MergeTable::memory_bytes() const noexcept {
    return tokens_.size() * sizeof(TokenId) + parts_.size() * sizeof(parts_[0]) +
           (pairs_size_ + presence_.size()) * sizeof(std::uint64_t) + unmerged_data_.size() +
           unmerged_ids_.size() * (sizeof(TokenId) + 3 * sizeof(std::int64_t));
}

} // namespace jogak
