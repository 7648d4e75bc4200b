#include "jogak/encode_characters.hpp"

#include "character_merge.hpp"
#include "character_tables.hpp"
#include "jogak/unit_cache.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace jogak {

namespace {

// Whatever their length, its segments go into the wide table.
constexpr CacheSizes cache_sizes{4, 2, std::size_t{1} << 14};
constexpr std::size_t none = ~std::size_t{0};

struct CharacterWorkspace {
    explicit CharacterWorkspace(const HashSeed& seed) : cache(cache_sizes, seed) {}
    UnitCache cache;
    std::vector<Node> nodes;
    std::vector<Entry> queue;
    std::vector<TokenId> ids;
};

/// One call of encode: what is read, and what has been written.
class CharacterPass {
  public:
    CharacterPass(const CharacterTables& tables, CharacterWorkspace& workspace,
                  std::span<const std::uint8_t> data, bool with_ends)
        : tables_(tables), workspace_(workspace), data_(data), with_ends_(with_ends) {}

    /// Encodes the pretoken data[begin, end).
    void add(std::size_t begin, std::size_t end) {
        const TokenId whole = tables_.whole(data_.subspan(begin, end - begin));
        if (whole != no_token) {
            write(whole, end);
            return;
        }
        if (!tables_.cutting()) {
            add_segment(begin, end, begin, end);
            return;
        }
        std::size_t start = begin;
        Character left = decode_character(data_.data() + begin);
        bool left_known = tables_.symbol(left.code, true, true) != no_token;
        for (std::size_t at = begin + left.size; at < end;) {
            const Character right = decode_character(data_.data() + at);
            const bool right_known = tables_.symbol(right.code, true, true) != no_token;
            const bool fuses = !left_known && !right_known && tables_.fuse_unknown();
            if (!fuses && !tables_.neighbours().may_join(left.code, right.code)) {
                add_segment(start, at, begin, end);
                start = at;
            }
            left = right;
            left_known = right_known;
            at += right.size;
        }
        add_segment(start, end, begin, end);
    }

    void end_document() {
        result_.document_ends.push_back(static_cast<std::int64_t>(result_.ids.size()));
    }

    [[nodiscard]] EncodedPieces finish() {
        result_.ids.shrink();
        return std::move(result_);
    }

  private:
    void write(TokenId id, std::size_t end) {
        TokenId* out = result_.ids.reserve(1);
        *out = id;
        result_.ids.commit(out + 1);
        if (with_ends_) {
            result_.id_ends.push_back(static_cast<std::int64_t>(end));
        }
    }

    /// Encodes data[begin, end), a part of the pretoken [word_begin, word_end).
    void add_segment(std::size_t begin, std::size_t end, std::size_t word_begin,
                     std::size_t word_end) {
        const std::size_t size = end - begin;
        if (with_ends_ || size > longest_wide) {
            merge(begin, end, word_begin, word_end);
            write_nodes(begin);
            return;
        }
        // Affixes depend on the place, but with them a segment is a whole pretoken: the same bytes
        // always mean the same ids.
        const std::uint8_t* segment = data_.data() + begin;
        const WideKey key = wide_key(exact_unit_key(segment, size), segment, size);
        TokenId* out = result_.ids.reserve(most_wide_ids);
        if (const std::size_t known = find_wide(workspace_.cache.tables(), key, out); known != 0) {
            result_.ids.commit(out + known);
            return;
        }
        merge(begin, end, word_begin, word_end);
        workspace_.ids.clear();
        for (const Node& node : workspace_.nodes) {
            if (node.size != 0) {
                workspace_.ids.push_back(node.id);
            }
        }
        workspace_.cache.insert_wide(key, workspace_.ids);
        out = result_.ids.reserve(workspace_.ids.size());
        result_.ids.commit(std::ranges::copy(workspace_.ids, out).out);
    }

    void write_nodes(std::size_t begin) {
        std::size_t end = begin;
        for (const Node& node : workspace_.nodes) {
            if (node.size != 0) {
                end += node.size;
                write(node.id, end);
            }
        }
    }

    void merge(std::size_t begin, std::size_t end, std::size_t word_begin, std::size_t word_end) {
        workspace_.nodes.clear();
        std::size_t unknown = none; // the node that a further unknown character joins
        for (std::size_t at = begin; at < end;) {
            const Character character = decode_character(data_.data() + at);
            const bool first = at == word_begin;
            const bool last = at + character.size == word_end;
            const TokenId id = tables_.symbol(character.code, first, last);
            if (id != no_token) {
                append(id, character.size);
                unknown = none;
            } else if (!tables_.byte_ids().empty()) {
                append_bytes(at, character.size, first, last);
            } else if (unknown != none && tables_.fuse_unknown()) {
                workspace_.nodes[unknown].size += character.size;
            } else if (tables_.unknown() != no_token) {
                unknown = workspace_.nodes.size();
                append(tables_.unknown(), character.size);
            } else {
                throw std::runtime_error("the character at byte " + std::to_string(at) +
                                         " is not in the vocabulary, which has neither byte "
                                         "fallback nor an unknown token");
            }
            at += character.size;
        }
        merge_nodes(tables_.pairs(), workspace_.nodes, workspace_.queue);
    }

    void append(TokenId id, std::uint32_t size) {
        std::vector<Node>& nodes = workspace_.nodes;
        const auto place = static_cast<std::uint32_t>(nodes.size());
        if (place != 0) {
            nodes[place - 1].next = place;
        }
        nodes.push_back({id, size, place == 0 ? no_node : place - 1, no_node});
    }

    /// The library falls back on what it looked up, affixes included.
    void append_bytes(std::size_t at, std::size_t size, bool first, bool last) {
        const std::span<const TokenId> ids = tables_.byte_ids();
        if (!first) {
            append_affix(tables_.prefix());
        }
        for (std::size_t i = 0; i < size; ++i) {
            append(ids[data_[at + i]], 1);
        }
        if (last) {
            append_affix(tables_.suffix());
        }
    }

    void append_affix(const std::string& affix) {
        for (const char character : affix) {
            append(tables_.byte_ids()[static_cast<std::uint8_t>(character)], 1);
        }
    }

    const CharacterTables& tables_;
    CharacterWorkspace& workspace_;
    std::span<const std::uint8_t> data_;
    bool with_ends_;
    EncodedPieces result_;
};

[[noreturn]] void fail_ends(std::size_t document) {
    throw std::invalid_argument("encode: the ends of pretokens do not fit document " +
                                std::to_string(document) +
                                ": they must ascend and end where the document does");
}

} // namespace

struct CharacterEncoder::State {
    explicit State(const CharacterVocabulary& vocabulary) : tables(vocabulary), seed(draw_seed()) {}

    [[nodiscard]] std::unique_ptr<CharacterWorkspace> take() {
        const std::scoped_lock lock(mutex);
        if (idle.empty()) {
            return std::make_unique<CharacterWorkspace>(seed);
        }
        std::unique_ptr<CharacterWorkspace> workspace = std::move(idle.back());
        idle.pop_back();
        return workspace;
    }
    void give_back(std::unique_ptr<CharacterWorkspace> workspace) {
        const std::scoped_lock lock(mutex);
        idle.push_back(std::move(workspace));
    }

    CharacterTables tables;
    HashSeed seed;
    std::mutex mutex;
    std::vector<std::unique_ptr<CharacterWorkspace>> idle;
};

CharacterEncoder::CharacterEncoder(const CharacterVocabulary& vocabulary)
    : state_(std::make_unique<State>(vocabulary)) {}
CharacterEncoder::~CharacterEncoder() = default;

bool CharacterEncoder::cutting() const noexcept { return state_->tables.cutting(); }

EncodedPieces CharacterEncoder::encode(const Documents& documents,
                                       std::span<const std::int64_t> ends, bool with_ends) const {
    std::unique_ptr<CharacterWorkspace> workspace = state_->take();
    CharacterPass pass(state_->tables, *workspace, documents.data, with_ends);
    std::size_t next = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        std::int64_t begin = documents.offsets[i];
        const std::int64_t stop = documents.offsets[i + 1];
        if (stop - begin > 0xFFFFFFFFLL) {
            throw std::invalid_argument("encode: document " + std::to_string(i) + " has " +
                                        std::to_string(stop - begin) +
                                        " bytes; the most is 2^32 - 1");
        }
        while (begin < stop) {
            if (next == ends.size() || ends[next] <= begin || ends[next] > stop) {
                fail_ends(i);
            }
            const std::int64_t end = ends[next++];
            pass.add(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
            begin = end;
        }
        pass.end_document();
    }
    if (next != ends.size()) {
        fail_ends(documents.size());
    }
    EncodedPieces result = pass.finish();
    state_->give_back(std::move(workspace));
    return result;
}

} // namespace jogak
