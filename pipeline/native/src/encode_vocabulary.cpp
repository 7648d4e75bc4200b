// Construction of TokenIndex and MergeTable: checks, and which merges can ever fire.
#include "encode_derivation.hpp"
#include "jogak/merge_table.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace jogak {

namespace {

using Bytes = std::span<const std::uint8_t>;
using derivation::Derivation;
using derivation::LastMerge;
using derivation::PairRule;
using derivation::RankRule;
using derivation::table_size;

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("encoder: " + what); }

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
    byte_pairs_.assign(std::size_t{1} << 16, no_symbol);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].first < first_merged_symbol && parts_[i].second < first_merged_symbol) {
            byte_pairs_[parts_[i].first << 8 | parts_[i].second] =
                static_cast<Symbol>(first_merged_symbol + i);
        }
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
    return (tokens_.size() + byte_pairs_.size()) * sizeof(TokenId) +
           parts_.size() * sizeof(parts_[0]) +
           (pairs_size_ + presence_.size()) * sizeof(std::uint64_t) + unmerged_data_.size() +
           unmerged_ids_.size() * (sizeof(TokenId) + 3 * sizeof(std::int64_t));
}

} // namespace jogak
