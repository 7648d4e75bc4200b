#include "jogak/normalize.hpp"
#include "jogak/simd.hpp"

#include <algorithm>
#include <array>

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

/// The start of the character that text[position] may belong to: at most three bytes back.
std::size_t character_start(const std::uint8_t* text, std::size_t position) noexcept {
    std::size_t start = position;
    while (start > 0 && position - start < 3 && is_continuation(text[start])) {
        --start;
    }
    return start;
}

/// A position in [0, size) before which all is valid, found with blocks; scan on from there.
std::size_t skip_valid_blocks(const std::uint8_t* text, std::size_t size,
                              const simd::Kernels& kernels) noexcept {
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
    position = kernels.skip_valid(text, position, size);
    return character_start(text, std::max<std::size_t>(position, 1) - 1);
}

/// Returns the offset of the first byte that is not part of valid UTF-8, or -1.
std::int64_t find_invalid(std::string_view text, const simd::Kernels& kernels) noexcept {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    std::size_t position = 0;
    if (text.size() >= block_bytes + 6) {
        position = skip_valid_blocks(bytes, text.size(), kernels);
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

} // namespace

std::vector<std::int64_t> validate_utf8(const Documents& documents, const char* isa) {
    const simd::Kernels& kernels = simd::kernels(isa);
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
        find_invalid({reinterpret_cast<const char*>(bytes) + begin, end - begin}, kernels) < 0;
    const auto starts_character = [&](std::int64_t offset) {
        const auto position = static_cast<std::size_t>(offset);
        return position == end || !is_continuation(bytes[position]);
    };
    if (whole && std::ranges::all_of(documents.offsets, starts_character)) {
        return invalid;
    }
    for (std::size_t index = 0; index < documents.size(); ++index) {
        invalid[index] = find_invalid(documents[index], kernels);
    }
    return invalid;
}

std::vector<std::int64_t> line_offsets(std::string_view text, const char* isa) {
    const simd::Kernels& kernels = simd::kernels(isa);
    std::vector<std::int64_t> offsets{0};
    std::size_t position = 0;
    if (kernels.find_lines != nullptr) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
        std::array<std::int64_t, 4096> ends;
        while (position + block_bytes <= text.size()) {
            const std::size_t found =
                kernels.find_lines(bytes, position, text.size(), ends.data(), ends.size());
            offsets.insert(offsets.end(), ends.begin(), ends.begin() + found);
        }
    }
    while (position < text.size()) {
        const std::size_t found = text.find('\n', position);
        position = found == std::string_view::npos ? text.size() : found + 1;
        if (found != std::string_view::npos) {
            offsets.push_back(static_cast<std::int64_t>(position));
        }
    }
    if (offsets.back() != static_cast<std::int64_t>(text.size())) {
        offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
    return offsets;
}

} // namespace jogak
