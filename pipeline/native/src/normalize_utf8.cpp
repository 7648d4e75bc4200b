#include "jogak/normalize.hpp"

#include <algorithm>

namespace jogak {

namespace {

constexpr std::size_t block_bytes = 64;

bool is_continuation(std::uint8_t byte) noexcept { return (byte & 0xC0) == 0x80; }

/// Length of the well-formed character at text[0], or 0. Unicode 16, table 3-7.
std::size_t character_length(const std::uint8_t* text, std::size_t size) noexcept {
    const std::uint8_t lead = text[0];
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size < length) {
        return 0;
    }
    const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < lowest || text[1] > highest) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if (!is_continuation(text[i])) {
            return 0;
        }
    }
    return length;
}

/// Whether the bytes text[0, block_bytes) follow on from text[-3, 0) as well-formed UTF-8 does.
/// A character that the block leaves open is judged with the next block. Every rule of table 3-7
/// looks back at most three bytes, so the loop has no branch and the compiler vectorises it.
bool block_is_valid(const std::uint8_t* text) noexcept {
    std::uint8_t faults = 0;
    for (std::size_t i = 0; i < block_bytes; ++i) {
        const std::uint8_t byte = text[i];
        const std::uint8_t back1 = text[i - 1];
        const std::uint8_t back2 = text[i - 2];
        const std::uint8_t back3 = text[i - 3];
        const bool continues = (byte & 0xC0) == 0x80;
        const bool must_continue = (back1 >= 0xC0) | (back2 >= 0xE0) | (back3 >= 0xF0);
        const bool fault = (continues != must_continue) | (byte == 0xC0) | (byte == 0xC1) |
                           (byte >= 0xF5) | ((back1 == 0xE0) & (byte < 0xA0)) |
                           ((back1 == 0xED) & (byte >= 0xA0)) | ((back1 == 0xF0) & (byte < 0x90)) |
                           ((back1 == 0xF4) & (byte >= 0x90));
        faults = static_cast<std::uint8_t>(faults | static_cast<std::uint8_t>(fault));
    }
    return faults == 0;
}

/// The start of the character that text[position] may belong to: at most three bytes back.
std::size_t character_start(const std::uint8_t* text, std::size_t position) noexcept {
    std::size_t start = position;
    while (start > 0 && position - start < 3 && is_continuation(text[start])) {
        --start;
    }
    return start;
}

/// A position in [0, size) before which all is valid, found with blocks; scan on from there.
std::size_t skip_valid_blocks(const std::uint8_t* text, std::size_t size) noexcept {
    // The first block starts at 3, since a block looks three bytes back; the scalar loop has
    // judged the characters that start before it.
    std::size_t position = 0;
    while (position < 3) {
        const std::size_t length = character_length(text + position, size - position);
        if (length == 0) {
            return position;
        }
        position += length;
    }
    while (position + block_bytes <= size && block_is_valid(text + position)) {
        position += block_bytes;
    }
    return character_start(text, std::max<std::size_t>(position, 1) - 1);
}

} // namespace

std::int64_t find_invalid_utf8(std::string_view text) noexcept {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    std::size_t position = 0;
    if (text.size() >= block_bytes + 6) {
        position = skip_valid_blocks(bytes, text.size());
    }
    while (position < text.size()) {
        const std::size_t length = character_length(bytes + position, text.size() - position);
        if (length == 0) {
            return static_cast<std::int64_t>(position);
        }
        position += length;
    }
    return -1;
}

std::vector<std::int64_t> validate_utf8(const Documents& documents) {
    std::vector<std::int64_t> invalid(documents.size(), -1);
    if (documents.size() == 0) {
        return invalid;
    }
    // Documents are short (a film review has 90 bytes), so all are judged as one text first; they
    // are then valid one by one if each also starts where a character does.
    const auto begin = static_cast<std::size_t>(documents.offsets.front());
    const auto end = static_cast<std::size_t>(documents.offsets.back());
    const auto* bytes = documents.data.data();
    const bool whole =
        find_invalid_utf8({reinterpret_cast<const char*>(bytes) + begin, end - begin}) < 0;
    const auto starts_character = [&](std::int64_t offset) {
        const auto position = static_cast<std::size_t>(offset);
        return position == end || !is_continuation(bytes[position]);
    };
    if (whole && std::ranges::all_of(documents.offsets, starts_character)) {
        return invalid;
    }
    for (std::size_t index = 0; index < documents.size(); ++index) {
        invalid[index] = find_invalid_utf8(documents[index]);
    }
    return invalid;
}

std::vector<std::int64_t> line_offsets(std::string_view text) {
    std::vector<std::int64_t> offsets{0};
    for (std::size_t end = 0; end < text.size();) {
        const std::size_t found = text.find('\n', end);
        end = found == std::string_view::npos ? text.size() : found + 1;
        offsets.push_back(static_cast<std::int64_t>(end));
    }
    return offsets;
}

} // namespace jogak
