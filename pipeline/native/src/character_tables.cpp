#include "character_tables.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace jogak {

namespace {

constexpr std::size_t page_count = (0x110000 >> 8);

[[nodiscard]] std::size_t characters(std::span<const std::uint8_t> text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](std::uint8_t byte) { return (byte & 0xC0) != 0x80; }));
}

/// A merge that starts from a byte's piece or the unknown token could cross any cut.
[[nodiscard]] bool merges_stay_inside(const CharacterVocabulary& vocabulary) {
    std::vector<bool> outside(vocabulary.token_offsets.size(), false);
    for (const TokenId id : vocabulary.byte_ids) {
        outside[id] = true;
    }
    if (vocabulary.unknown) {
        outside[*vocabulary.unknown] = true;
    }
    for (std::size_t i = 0; i + 2 < vocabulary.merges.size(); i += 3) {
        if (outside[vocabulary.merges[i]] || outside[vocabulary.merges[i + 1]]) {
            return false;
        }
    }
    return true;
}

} // namespace

CharacterMap::CharacterMap() : pages_(page_count, 0), ids_(256, no_token) {}

void CharacterMap::set(std::uint32_t code, TokenId id) {
    std::uint32_t& page = pages_[code >> 8];
    if (page == 0) {
        page = static_cast<std::uint32_t>(ids_.size());
        ids_.resize(ids_.size() + 256, no_token);
    }
    ids_[page + (code & 0xFF)] = id;
}

PairTable::PairTable(std::span<const std::uint32_t> merges, std::span<const std::uint32_t> ranks) {
    const std::size_t count = merges.size() / 3;
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * count, 16));
    slots_.resize(size);
    mask_ = size - 1;
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(size));
    for (std::size_t i = 0; i < count; ++i) {
        const TokenId result = merges[3 * i + 2];
        const auto rank = ranks.empty() ? static_cast<std::uint32_t>(i) : ranks[i];
        const std::uint64_t key =
            static_cast<std::uint64_t>(merges[3 * i]) << 32 | merges[3 * i + 1];
        std::size_t slot = (key * 0x9E3779B97F4A7C15U) >> shift_;
        while (slots_[slot].key != free && slots_[slot].key != key) {
            slot = (slot + 1) & mask_;
        }
        slots_[slot] = {key, {rank, result}};
    }
}

NeighbourFilter::NeighbourFilter(const TokenIndex& pieces) {
    std::size_t pairs = 0;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        pairs += characters(pieces.bytes(static_cast<TokenId>(id)));
    }
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(16 * pairs, 1024));
    bits_.resize(size / 64);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(size));
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const std::span<const std::uint8_t> text = pieces.bytes(static_cast<TokenId>(id));
        if (text.empty()) {
            continue;
        }
        Character left = decode_character(text.data());
        for (std::size_t at = left.size; at < text.size();) {
            const Character right = decode_character(text.data() + at);
            const std::size_t bit = place(left.code, right.code);
            bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
            left = right;
            at += right.size;
        }
    }
}

CharacterTables::CharacterTables(const CharacterVocabulary& vocabulary)
    : data_(check(vocabulary).token_data.begin(), vocabulary.token_data.end()),
      offsets_(vocabulary.token_offsets.begin(), vocabulary.token_offsets.end()),
      pieces_(data_, offsets_), pairs_(vocabulary.merges, vocabulary.ranks), neighbours_(pieces_),
      byte_ids_(vocabulary.byte_ids.begin(), vocabulary.byte_ids.end()),
      unknown_(vocabulary.unknown.value_or(no_token)), fuse_unknown_(vocabulary.fuse_unknown),
      whole_first_(vocabulary.whole_first), prefix_(vocabulary.prefix), suffix_(vocabulary.suffix),
      affixed_(!prefix_.empty() || !suffix_.empty()),
      cutting_(!affixed_ && merges_stay_inside(vocabulary)) {
    add_characters();
}

const CharacterVocabulary& CharacterTables::check(const CharacterVocabulary& vocabulary) {
    const std::size_t size = vocabulary.token_offsets.size() - 1;
    if (vocabulary.merges.size() % 3 != 0) {
        throw std::invalid_argument("merges: expected three ids each, found " +
                                    std::to_string(vocabulary.merges.size()) + " in all");
    }
    if (!vocabulary.ranks.empty() && vocabulary.ranks.size() != vocabulary.merges.size() / 3) {
        throw std::invalid_argument("ranks: expected one for each merge or none, found " +
                                    std::to_string(vocabulary.ranks.size()));
    }
    for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) {
        if (vocabulary.merges[i] >= size) {
            throw std::invalid_argument("merge " + std::to_string(i / 3) + " names the id " +
                                        std::to_string(vocabulary.merges[i]) + ", but there are " +
                                        std::to_string(size));
        }
    }
    if (!vocabulary.byte_ids.empty() && vocabulary.byte_ids.size() != 256) {
        throw std::invalid_argument("byte_ids: expected 256 or none, found " +
                                    std::to_string(vocabulary.byte_ids.size()));
    }
    for (const TokenId id : vocabulary.byte_ids) {
        if (id >= size) {
            throw std::invalid_argument("byte_ids: there is no id " + std::to_string(id));
        }
    }
    if (vocabulary.unknown && *vocabulary.unknown >= size) {
        throw std::invalid_argument("unknown: there is no id " +
                                    std::to_string(*vocabulary.unknown));
    }
    return vocabulary;
}

void CharacterTables::add_characters() {
    maps_.resize(affixed_ ? 4 : 1);
    for (std::size_t id = 0; id < pieces_.size(); ++id) {
        const std::span<const std::uint8_t> bytes = pieces_.bytes(static_cast<TokenId>(id));
        for (std::size_t variant = 0; variant < maps_.size(); ++variant) {
            std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            const std::string_view front = (variant & 2) == 0 ? std::string_view(prefix_) : "";
            const std::string_view back = (variant & 1) != 0 ? std::string_view(suffix_) : "";
            if (text.size() <= front.size() + back.size() || !text.starts_with(front) ||
                !text.ends_with(back)) {
                continue;
            }
            text.remove_prefix(front.size());
            text.remove_suffix(back.size());
            const auto* start = reinterpret_cast<const std::uint8_t*>(text.data());
            if (characters({start, text.size()}) == 1) {
                maps_[variant].set(decode_character(start).code, static_cast<TokenId>(id));
            }
        }
    }
}

} // namespace jogak
