// pretokenize: the patterns that the mask kernels know. Internal to src/pretokenize*.cpp.
#pragma once

#include "jogak/simd.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jogak::pattern {

/// The rules of a pattern that the mask kernels know, by its source; nothing for any other.
[[nodiscard]] std::optional<simd::MaskRules> mask_rules(std::string_view pattern);

/// The table of simd::MaskScan.
struct ClassTable {
    std::vector<std::uint16_t> block_of;
    std::vector<std::uint8_t> class_of;
};

/// Builds the table: marks are letters of either case for o200k, and `other` elsewhere.
[[nodiscard]] ClassTable class_table(const simd::MaskRules& rules);

} // namespace jogak::pattern
