#include "jogak/encode_unigram.hpp"

#include "character_tables.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace jogak {

namespace {

constexpr float unknown_penalty = 10.0F;
constexpr std::uint32_t unreached = 0xFFFFFFFF;
/// Below this the scores so far are counted from zero again, or sums of floats would get coarse
/// (SentencePiece 0.2.3 does so, found by where near ties of long texts turn).
constexpr float lowest_score = -100'000.0F;

void mark(std::vector<bool>& marks, std::span<const TokenId> ids) {
    for (const TokenId id : ids) {
        if (id >= marks.size()) {
            throw std::invalid_argument("there is no piece " + std::to_string(id));
        }
        marks[id] = true;
    }
}

} // namespace

UnigramEncoder::UnigramEncoder(const UnigramVocabulary& vocabulary)
    : scores_(vocabulary.scores.begin(), vocabulary.scores.end()),
      byte_ids_(vocabulary.byte_ids.begin(), vocabulary.byte_ids.end()),
      unknown_(vocabulary.unknown) {
    const std::size_t size = vocabulary.token_offsets.size() - 1;
    if (scores_.size() != size || (!byte_ids_.empty() && byte_ids_.size() != 256) ||
        unknown_ >= size) {
        throw std::invalid_argument("there are " + std::to_string(size) + " pieces, but " +
                                    std::to_string(scores_.size()) + " scores, " +
                                    std::to_string(byte_ids_.size()) +
                                    " byte ids, and the unknown id is " + std::to_string(unknown_));
    }
    std::vector<bool> hidden(size, false); // the pieces for bytes are no text
    mark(hidden, byte_ids_);
    user_defined_.resize(size, false);
    mark(user_defined_, vocabulary.user_defined);
    float smallest = std::numeric_limits<float>::max();
    largest_score_ = std::numeric_limits<float>::min();
    for (std::size_t id = 0; id < size; ++id) {
        const auto begin = static_cast<std::size_t>(vocabulary.token_offsets[id]);
        const auto end = static_cast<std::size_t>(vocabulary.token_offsets[id + 1]);
        if (begin == end || hidden[id]) {
            continue;
        }
        if (!user_defined_[id]) {
            smallest = std::min(smallest, scores_[id]);
            largest_score_ = std::max(largest_score_, scores_[id]);
        }
        const auto* text = reinterpret_cast<const char*>(vocabulary.token_data.data()) + begin;
        if (pieces_.insert({text, end - begin}, static_cast<std::uint32_t>(id)) != ByteTrie::none) {
            throw std::invalid_argument("piece " + std::to_string(id) + " is listed twice");
        }
    }
    unknown_score_ = smallest - unknown_penalty;
}

/// Counts the scores of `start` and of all that was reached beyond it from that of `start` on.
void UnigramEncoder::rebase(std::vector<Step>& best, std::size_t start, std::size_t reach) {
    const float base = best[start].score;
    for (std::size_t at = start; at <= reach; ++at) {
        best[at].score -= base;
    }
}

void UnigramEncoder::search(std::string_view text, std::vector<Step>& best) const {
    best.assign(text.size() + 1, {0.0F, 0, unreached});
    std::size_t reach = 0;
    for (std::size_t start = 0; start < text.size();) {
        if (best[start].score < lowest_score) {
            rebase(best, start, reach);
        }
        const float so_far = best[start].score;
        const std::size_t character =
            decode_character(reinterpret_cast<const std::uint8_t*>(text.data()) + start).size;
        bool has_single = false;
        std::uint32_t node = ByteTrie::root;
        for (std::size_t at = start; at < text.size(); ++at) {
            node = pieces_.child(node, static_cast<std::uint8_t>(text[at]));
            if (node == ByteTrie::none) {
                break;
            }
            const std::uint32_t id = pieces_.value(node);
            if (id == ByteTrie::none) {
                continue;
            }
            const std::size_t length = at + 1 - start;
            const float score = user_defined_[id]
                                    ? static_cast<float>(length) * largest_score_ - 0.1F
                                    : scores_[id];
            reach = std::max(reach, at + 1);
            const float candidate = score + so_far;
            Step& step = best[at + 1];
            if (step.start == unreached || candidate > step.score) {
                step = {candidate, id, static_cast<std::uint32_t>(start)};
            }
            has_single = has_single || length == character;
        }
        if (!has_single) {
            Step& step = best[start + character];
            reach = std::max(reach, start + character);
            const float candidate = unknown_score_ + so_far;
            if (step.start == unreached || candidate > step.score) {
                step = {candidate, unknown_, static_cast<std::uint32_t>(start)};
            }
        }
        start += character;
    }
}

void UnigramEncoder::write(std::string_view text, std::int64_t origin,
                           const std::vector<Step>& path, bool with_ends,
                           EncodedPieces& result) const {
    const auto put = [&](TokenId id, std::size_t end) {
        TokenId* out = result.ids.reserve(1);
        *out = id;
        result.ids.commit(out + 1);
        if (with_ends) {
            result.id_ends.push_back(origin + static_cast<std::int64_t>(end));
        }
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
        const std::size_t end = i + 1 < path.size() ? path[i + 1].start : text.size();
        if (path[i].id != unknown_) {
            put(path[i].id, end);
        } else if (!byte_ids_.empty()) {
            for (std::size_t at = path[i].start; at < end; ++at) {
                put(byte_ids_[static_cast<std::uint8_t>(text[at])], at + 1);
            }
        } else if (i + 1 == path.size() || path[i + 1].id != unknown_) {
            put(unknown_, end); // a run of unknown characters is one token
        }
    }
}

EncodedPieces UnigramEncoder::encode(const Documents& documents, bool with_ends) const {
    EncodedPieces result;
    std::vector<Step> best;
    std::vector<Step> path;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::string_view text = documents[i];
        if (text.size() >= unreached) {
            throw std::invalid_argument("encode: document " + std::to_string(i) + " has " +
                                        std::to_string(text.size()) +
                                        " bytes; the most is 2^32 - 2");
        }
        search(text, best);
        path.clear();
        for (std::size_t end = text.size(); end > 0; end = best[end].start) {
            path.push_back(best[end]);
        }
        std::ranges::reverse(path);
        write(text, documents.offsets[i], path, with_ends, result);
        result.document_ends.push_back(static_cast<std::int64_t>(result.ids.size()));
    }
    result.ids.shrink();
    return result;
}

} // namespace jogak
