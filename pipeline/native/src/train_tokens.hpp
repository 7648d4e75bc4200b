// The tokens of a training run: their bytes, lengths, and which two may join. Private to train.
#pragma once

#include "jogak/train.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

namespace jogak {

class Tokens {
  public:
    Tokens(const Alphabet& alphabet, const TrainOptions& options);

    [[nodiscard]] std::size_t size() const noexcept { return chars_.size(); }

    [[nodiscard]] std::string_view bytes(TokenId id) const noexcept {
        return {text_.data() + starts_[id], starts_[id + 1] - starts_[id]};
    }

    /// The first 8 bytes as a number that orders like the strings, as far as they go.
    [[nodiscard]] std::uint64_t prefix(TokenId id) const noexcept { return prefixes_[id]; }

    /// Whether the options allow a token made of these two.
    [[nodiscard]] bool may_join(TokenId left, TokenId right) const noexcept;

    /// Makes the token that joins two; returns its id.
    TokenId join(TokenId left, TokenId right);

  private:
    void append(std::string_view bytes, std::uint32_t chars);

    std::string text_;
    std::vector<std::size_t> starts_{0};
    std::vector<std::uint64_t> prefixes_;
    std::vector<std::uint32_t> chars_; // characters that begin in each token
    std::vector<bool> whole_;
    std::size_t max_bytes_;
    std::size_t max_chars_;
    bool whole_characters_;
    std::unordered_set<std::string> forbidden_;
    std::vector<bool> forbidden_sizes_;
};

} // namespace jogak
