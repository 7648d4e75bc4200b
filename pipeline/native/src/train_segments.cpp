#include "train_segments.hpp"

#include <algorithm>

namespace jogak {

bool Segments::suit(const Alphabet& alphabet) noexcept {
    std::array<bool, 256> has{};
    for (const std::string& token : alphabet.tokens) {
        if (token.size() != 1 || has[static_cast<unsigned char>(token[0])]) {
            return false;
        }
        has[static_cast<unsigned char>(token[0])] = true;
    }
    return !alphabet.characters && alphabet.tokens.size() == has.size();
}

Segments::Segments(const Alphabet& alphabet, std::size_t most) : most_(most) {
    for (std::size_t id = 0; id < alphabet.tokens.size(); ++id) {
        bytes_[static_cast<unsigned char>(alphabet.tokens[id][0])] = static_cast<TokenId>(id);
    }
}

std::size_t Segments::learn(std::uint32_t code, std::string_view text) {
    if (is_full()) {
        overflowed_ = true;
        return 0;
    }
    starts_.push_back(tokens_.size());
    lengths_.push_back(static_cast<std::uint32_t>(text.size()));
    weights_.push_back(0);
    codes_.push_back(code);
    for (const char byte : text) {
        tokens_.push_back(bytes_[static_cast<unsigned char>(byte)]);
    }
    entry(code) = static_cast<std::uint32_t>(size());
    return size() - 1;
}

std::vector<std::uint32_t> Segments::absorb(const Segments& other) {
    std::vector<std::uint32_t> ids(other.size());
    overflowed_ = overflowed_ || other.overflowed_;
    for (std::size_t id = 0; id < ids.size() && !overflowed_; ++id) {
        const std::uint32_t code = other.codes_[id];
        if (entry(code) == 0) {
            if (is_full()) {
                overflowed_ = true;
                break;
            }
            const std::span<const TokenId> added = other.tokens(id);
            starts_.push_back(tokens_.size());
            lengths_.push_back(static_cast<std::uint32_t>(added.size()));
            weights_.push_back(0);
            codes_.push_back(code);
            tokens_.insert(tokens_.end(), added.begin(), added.end());
            entry(code) = static_cast<std::uint32_t>(size());
        }
        ids[id] = entry(code) - 1;
        weights_[ids[id]] += other.weights_[id];
    }
    return ids;
}

std::size_t Segments::join(std::size_t left, std::size_t right) {
    const std::size_t start = tokens_.size();
    tokens_.reserve(start + lengths_[left] + lengths_[right]);
    for (const std::size_t part : {left, right}) {
        const std::span<const TokenId> added = tokens(part);
        tokens_.insert(tokens_.end(), added.begin(), added.end());
    }
    starts_.push_back(start);
    lengths_.push_back(lengths_[left] + lengths_[right]);
    weights_.push_back(0);
    return size() - 1;
}

bool Segments::merge(std::size_t id, TokenId left, TokenId right, TokenId made) {
    TokenId* const tokens = tokens_.data() + starts_[id];
    const std::size_t length = lengths_[id];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < length; ++i) {
        if (i + 1 < length && tokens[i] == left && tokens[i + 1] == right) {
            tokens[kept++] = made;
            ++i;
        } else {
            tokens[kept++] = tokens[i];
        }
    }
    lengths_[id] = static_cast<std::uint32_t>(kept);
    return kept < length;
}

} // namespace jogak
