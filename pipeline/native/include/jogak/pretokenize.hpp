// pretokenize: one scanner for every pattern (DESIGN: a leftmost-first DFA over classes of code
// points). Domain: valid UTF-8, one document at a time, shorter than 2^32 bytes.
#pragma once

#include "jogak/text.hpp"
#include "jogak/unicode.hpp"

#include <memory>

namespace jogak {

/// Where `Scanner::mark` writes: the text's byte i is bit origin + i.
struct MarkWindow {
    std::uint64_t* bits;   // of one word more than place `capacity` needs
    std::ptrdiff_t origin; // may be negative, where the text is scanned up to the window
    std::size_t capacity;  // the last place that may be marked
    bool beyond_ascii;     // set where what was marked may hold other characters
};

/// A compiled pattern. Immutable after construction, so it may be shared between threads.
class Scanner {
  public:
    /// Compiles `pattern`. Throws std::invalid_argument that names the construct when the pattern
    /// lies outside the subset. `isa` is for tests: see simd::kernels, whose std::runtime_error
    /// it may throw.
    explicit Scanner(std::string_view pattern, const char* isa = "");
    ~Scanner();
    Scanner(Scanner&&) noexcept;
    Scanner& operator=(Scanner&&) noexcept;

    /// Writes the ends of the pretokens of text from `start` on, as offsets from text's beginning,
    /// ascending, until `capacity` ends are written or the text is exhausted; returns how many.
    /// `start` is 0 or an end written earlier for the same text, so a document can be scanned in
    /// pieces. Text that the pattern does not match becomes pretokens of its own: every byte
    /// belongs to exactly one pretoken. O(n); a pattern that can read text in vain without bound
    /// (`a*b|a`) is guarded: O(n) for each call.
    std::size_t scan(std::string_view text, std::size_t start, std::uint32_t* ends,
                     std::size_t capacity) const noexcept;

    /// The same by masks (`by_masks` holds): sets the bit of each pretoken's end, as far as they
    /// are sure to fit the window, and returns the last of them, or `start` if there is none.
    std::size_t mark(std::string_view text, std::size_t start, MarkWindow& window) const noexcept;

    /// No text has a part that the pattern leaves unmatched.
    [[nodiscard]] bool matches_everything() const noexcept;
    /// No text is read more than a few times, whatever the capacity; true of all named patterns.
    [[nodiscard]] bool linear() const noexcept;
    /// Vector kernels scan: the pattern is one that they know, and the processor has them.
    [[nodiscard]] bool by_masks() const noexcept;
    /// The states of the automaton; at most 4,096.
    [[nodiscard]] std::size_t states() const noexcept;

  private:
    struct Compiled;
    std::unique_ptr<const Compiled> compiled_;
};

/// The code points that a pattern of one character matches, such as `\p{L}` or `[^\s\p{N}]`.
/// Throws std::invalid_argument when the pattern lies outside the subset or is more than that.
[[nodiscard]] CharacterClass character_class(std::string_view pattern);

} // namespace jogak
