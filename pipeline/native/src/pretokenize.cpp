#include "jogak/pretokenize.hpp"

#include "pretokenize_automaton.hpp"

#include <stdexcept>
#include <utility>

namespace jogak {

namespace {

struct Character {
    pattern::Atom atom;
    std::size_t bytes;
};

// Reads the character at `at`. Bytes that are not UTF-8 are outside the contract, but must not
// lead outside the text or the tables: each is taken as a character of its own.
Character read(const pattern::Atoms& atoms, std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
    };
    const std::uint32_t lead = byte(0);
    const std::size_t left = text.size() - at;
    if (lead < 0x80) {
        return {atoms.ascii[lead], 1};
    }
    if (lead < 0xE0 && left >= 2) {
        return {atoms[(lead & 0x1FU) << 6U | (byte(1) & 0x3FU)], 2};
    }
    if (lead < 0xF0 && left >= 3) {
        return {atoms[(lead & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU)], 3};
    }
    const std::uint32_t code = left < 4 ? last_code_point + 1
                                        : (lead & 0x7U) << 18U | (byte(1) & 0x3FU) << 12U |
                                              (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU);
    return code > last_code_point ? Character{atoms[last_code_point], 1}
                                  : Character{atoms[code], 4};
}

// The end of the pretoken that the pattern matches at `begin`, or `begin` where it matches none.
std::size_t match(const pattern::Automaton& automaton, std::string_view text,
                  std::size_t begin) noexcept {
    const auto end_of_text = static_cast<pattern::Atom>(automaton.atoms.count);
    pattern::State state = pattern::start_state;
    std::size_t accepted = begin;
    std::size_t at = begin;
    while (state != pattern::dead_state) {
        const Character character =
            at < text.size() ? read(automaton.atoms, text, at) : Character{end_of_text, 0};
        const std::uint16_t entry = automaton.step(state, character.atom);
        accepted = (entry & 1U) != 0 ? at : accepted;
        state = static_cast<pattern::State>(entry >> 1U);
        at += character.bytes;
    }
    return accepted;
}

} // namespace

struct Scanner::Compiled {
    pattern::Automaton automaton;
};

Scanner::Scanner(std::string_view pattern)
    : compiled_(std::make_unique<const Compiled>(
          Compiled{pattern::build_automaton(pattern::parse(pattern))})) {}
Scanner::~Scanner() = default;
Scanner::Scanner(Scanner&&) noexcept = default;
Scanner& Scanner::operator=(Scanner&&) noexcept = default;

std::size_t Scanner::scan(std::string_view text, std::size_t start, std::uint32_t* ends,
                          std::size_t capacity) const noexcept {
    const pattern::Automaton& automaton = compiled_->automaton;
    std::size_t count = 0;
    std::size_t done = start; // end of the last pretoken
    std::size_t at = start;   // ahead of `done` only in text that the pattern does not match
    while (at < text.size() && count < capacity) {
        const std::size_t end = match(automaton, text, at);
        if (end == at) {
            at += read(automaton.atoms, text, at).bytes;
            continue;
        }
        if (at != done) {
            ends[count++] = static_cast<std::uint32_t>(at);
            done = at;
        }
        if (count < capacity) {
            ends[count++] = static_cast<std::uint32_t>(end);
            done = end;
            at = end;
        }
    }
    if (at == text.size() && at != done && count < capacity) {
        ends[count++] = static_cast<std::uint32_t>(at);
    }
    return count;
}

bool Scanner::matches_everything() const noexcept {
    return compiled_->automaton.matches_everything;
}

std::size_t Scanner::states() const noexcept { return compiled_->automaton.states; }

CharacterClass character_class(std::string_view pattern) {
    pattern::Node node = pattern::parse(pattern);
    if (node.kind == pattern::Kind::Sequence && node.children.size() == 1 &&
        node.children[0].kind == pattern::Kind::Class) {
        return std::move(node.children[0].set);
    }
    throw std::invalid_argument("a pattern that is not one class of characters");
}

} // namespace jogak
