// Reading words from elsewhere. Private to train_words.
#pragma once

#include "train_words.hpp"

namespace jogak {

/// append(i) appends the symbols of pretoken i of [begin, end) and ends the word.
template <typename Symbol>
template <typename Append>
void Words<Symbol>::read_words(std::size_t begin, std::size_t end, Append&& append) {
    symbols_.push_back(boundary);
    for (std::size_t i = begin; i < end; ++i) {
        append(i);
    }
}

/// append(symbols) appends what becomes of a word; it returns where the word ends. The words are
/// those between two boundaries.
template <typename Symbol>
template <typename Other, typename Append>
void Words<Symbol>::copy_words(const Words<Other>& text, std::size_t begin, std::size_t end,
                               Append&& append) {
    const Other* const symbols = text.symbols();
    symbols_.push_back(boundary);
    for (std::size_t place = begin + 1; place <= end; ++place) {
        const std::size_t start = symbols_.size();
        const Count count = text.weight(static_cast<std::uint32_t>(place));
        place = static_cast<std::size_t>(append(symbols + place) - symbols);
        end_word(start, count, 0);
    }
}

} // namespace jogak
