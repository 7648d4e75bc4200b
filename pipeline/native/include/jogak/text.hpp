// The types that every stage shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace jogak {

using TokenId = std::uint32_t;
using Count = std::uint64_t;

/// Documents as Arrow large_string holds them: `offsets` has one entry more than there are
/// documents, document i is data[offsets[i], offsets[i + 1]). offsets[0] need not be 0.
/// Unless a function says otherwise, the bytes of every document are valid UTF-8.
struct Documents {
    std::span<const std::uint8_t> data;
    std::span<const std::int64_t> offsets;

    [[nodiscard]] std::size_t size() const noexcept {
        return offsets.empty() ? 0 : offsets.size() - 1;
    }
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        const auto begin = static_cast<std::size_t>(offsets[index]);
        const auto end = static_cast<std::size_t>(offsets[index + 1]);
        return {reinterpret_cast<const char*>(data.data()) + begin, end - begin};
    }
};

} // namespace jogak
