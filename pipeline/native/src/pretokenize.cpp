#include "jogak/pretokenize.hpp"

#include "pretokenize_automaton.hpp"
#include "pretokenize_families.hpp"
#include "pretokenize_folded.hpp"
#include "pretokenize_parser.hpp"
#include "pretokenize_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace jogak {

// Where the masks give up, the automaton scans a few pretokens, and more each time it is needed
// again at once: some scripts are full of marks.
constexpr std::size_t first_burst = 2;
constexpr std::size_t last_burst = 256;

struct Scanner::Compiled {
    pattern::Automaton automaton;
    pattern::Folded folded;
    std::optional<simd::MaskRules> rules; // of the mask kernels, where they know the pattern
    pattern::ClassTable classes;
    const simd::Kernels* kernels;

    std::size_t scan_by_automaton(std::string_view text, std::size_t start, std::uint32_t* ends,
                                  std::size_t capacity) const noexcept {
        return folded.table.empty()
                   ? pattern::scan_with(automaton, text, start, ends, capacity)
                   : pattern::scan_folded(folded, automaton, text, start, ends, capacity);
    }

    std::size_t scan_by_masks(std::string_view text, std::size_t start, std::uint32_t* ends,
                              std::size_t capacity) const noexcept {
        simd::MaskScan scan{mask_text(text, start), ends, 0, capacity};
        std::size_t burst = first_burst;
        while (scan.at.position < text.size() && scan.count < capacity) {
            const std::size_t before = scan.at.position;
            if (kernels->scan_masks(scan)) {
                break;
            }
            burst = scan.at.position == before ? std::min(burst * 2, last_burst) : first_burst;
            std::size_t room = capacity - scan.count;
            room = room < simd::mask_scan_room ? room : std::min(room, burst);
            scan.count += scan_by_automaton(text, scan.at.position, ends + scan.count, room);
            scan.at.position = ends[scan.count - 1];
        }
        return scan.count;
    }

    std::size_t mark(std::string_view text, std::size_t start, MarkWindow& window) const noexcept {
        simd::MarkScan scan{mask_text(text, start), window.bits, window.origin, window.capacity,
                            window.beyond_ascii};
        std::array<std::uint32_t, last_burst> ends;
        std::size_t burst = first_burst;
        for (;;) {
            const std::size_t before = scan.at.position;
            if (kernels->mark_masks(scan) != simd::MarkStop::automaton) {
                break;
            }
            scan.beyond_ascii = true;
            burst = scan.at.position == before ? std::min(burst * 2, last_burst) : first_burst;
            const std::size_t found = scan_by_automaton(text, scan.at.position, ends.data(), burst);
            if (!mark_ends(scan, {ends.data(), found})) {
                break;
            }
        }
        window.beyond_ascii = scan.beyond_ascii;
        return scan.at.position;
    }

  private:
    simd::MaskText mask_text(std::string_view text, std::size_t start) const noexcept {
        return {reinterpret_cast<const std::uint8_t*>(text.data()),
                text.size(),
                start,
                *rules,
                classes.block_of.data(),
                classes.class_of.data()};
    }

    /// False where an end lies beyond the window; the scan goes on behind the last that does not.
    static bool mark_ends(simd::MarkScan& scan, std::span<const std::uint32_t> ends) noexcept {
        for (const std::uint32_t end : ends) {
            const auto place = static_cast<std::size_t>(scan.origin + std::ptrdiff_t{end});
            if (place > scan.capacity) {
                return false;
            }
            scan.bits[place / 64] |= std::uint64_t{1} << (place % 64);
            scan.at.position = end;
        }
        return true;
    }
};

Scanner::Scanner(std::string_view pattern, const char* isa) {
    auto compiled = std::make_unique<Compiled>();
    compiled->automaton = pattern::build_automaton(pattern::parse(pattern));
    compiled->folded = pattern::fold(compiled->automaton);
    compiled->kernels = &simd::kernels(isa);
    if (compiled->kernels->scan_masks != nullptr) {
        compiled->rules = pattern::mask_rules(pattern);
    }
    if (compiled->rules) {
        compiled->classes = pattern::class_table(*compiled->rules);
    }
    compiled_ = std::move(compiled);
}

Scanner::~Scanner() = default;
Scanner::Scanner(Scanner&&) noexcept = default;
Scanner& Scanner::operator=(Scanner&&) noexcept = default;

std::size_t Scanner::scan(std::string_view text, std::size_t start, std::uint32_t* ends,
                          std::size_t capacity) const noexcept {
    if (compiled_->rules) {
        return compiled_->scan_by_masks(text, start, ends, capacity);
    }
    return compiled_->scan_by_automaton(text, start, ends, capacity);
}

std::size_t Scanner::mark(std::string_view text, std::size_t start,
                          MarkWindow& window) const noexcept {
    return compiled_->mark(text, start, window);
}

bool Scanner::matches_everything() const noexcept {
    return compiled_->automaton.matches_everything;
}

bool Scanner::linear() const noexcept { return compiled_->automaton.linear; }

bool Scanner::by_masks() const noexcept { return compiled_->rules.has_value(); }

std::size_t Scanner::states() const noexcept { return compiled_->automaton.states; }

CharacterClass character_class(std::string_view pattern) {
    pattern::Node node = pattern::parse(pattern);
    while (node.kind == pattern::Kind::Sequence && node.children.size() == 1) {
        pattern::Node child = std::move(node.children[0]);
        node = std::move(child);
    }
    if (node.kind == pattern::Kind::Class) {
        return std::move(node.set);
    }
    throw std::invalid_argument("a pattern that is not one class of characters");
}

} // namespace jogak
