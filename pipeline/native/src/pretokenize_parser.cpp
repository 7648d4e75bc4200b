#include "pretokenize_parser.hpp"

#include "pretokenize_syntax.hpp"

#include <optional>
#include <string>
#include <utility>

namespace jogak::pattern {

namespace {

constexpr int deepest_nesting = 100;
constexpr std::uint32_t most_repeats = 1000;

Node class_node(CharacterClass set) {
    Node node;
    node.kind = Kind::Class;
    node.set = std::move(set);
    return node;
}

Node look_ahead_node(CharacterClass set, bool end) {
    Node node = class_node(std::move(set));
    node.kind = Kind::LookAhead;
    node.end = end;
    return node;
}

class Parser {
  public:
    explicit Parser(std::string_view pattern) : reader_{pattern} {}

    Node parse_all() {
        Node node = parse_choice(Flags{});
        if (!reader_.done()) {
            reader_.fail("an unmatched ')'");
        }
        return node;
    }

  private:
    Node parse_choice(Flags flags) {
        if (++depth_ > deepest_nesting) {
            reader_.fail("groups nested too deep");
        }
        Node choice;
        choice.kind = Kind::Choice;
        do {
            choice.children.push_back(parse_sequence(flags));
        } while (reader_.take('|'));
        --depth_;
        return choice.children.size() == 1 ? std::move(choice.children[0]) : std::move(choice);
    }

    // `flags` is shared by the branches of a group: (?i) holds until the group ends.
    Node parse_sequence(Flags& flags) {
        Node sequence;
        while (!reader_.done() && reader_.peek() != '|' && reader_.peek() != ')') {
            if (std::optional<Node> item = parse_item(flags)) {
                sequence.children.push_back(parse_quantifiers(std::move(*item)));
            }
        }
        return sequence;
    }

    // Nothing comes back for a bare flag group.
    std::optional<Node> parse_item(Flags& flags) {
        switch (reader_.peek()) {
        case '(':
            return parse_group(flags);
        case '[':
            return class_node(parse_class(reader_, flags));
        case '.':
            reader_.skip(1);
            return class_node(flags.dot_matches_newline ? complement({})
                                                        : complement({{'\n', '\n'}}));
        case '$':
            reader_.skip(1);
            return look_ahead_node({}, true);
        case '\\':
            if (reader_.take("\\z")) {
                return look_ahead_node({}, true);
            }
            return class_node(parse_escape(reader_, flags));
        case '^':
            reader_.fail("the anchor '^'");
        case '*':
        case '+':
        case '?':
        case '{':
        case '}':
            reader_.fail("a '" + std::string(1, reader_.peek()) + "' with nothing to repeat");
        default:
            return class_node(literal_class(reader_, reader_.take_code_point(), flags));
        }
    }

    std::optional<Node> parse_group(Flags& flags) {
        reader_.skip(1);
        if (!reader_.take('?')) {
            return close_group(flags);
        }
        if (reader_.take(':')) {
            return close_group(flags);
        }
        if (reader_.take('=')) {
            return parse_look_ahead(flags, false);
        }
        if (reader_.take('!')) {
            return parse_look_ahead(flags, true);
        }
        Flags inner = flags;
        bool value = true;
        while (!reader_.done() && reader_.peek() != ':' && reader_.peek() != ')') {
            if (reader_.take('i')) {
                inner.ignore_case = value;
            } else if (reader_.take('s')) {
                inner.dot_matches_newline = value;
            } else if (reader_.take('-')) {
                value = false;
            } else {
                reader_.fail("the group '(?" + std::string(1, reader_.peek()) + "'");
            }
        }
        if (reader_.take(')')) {
            flags = inner;
            return std::nullopt;
        }
        reader_.skip(reader_.done() ? 0 : 1);
        return close_group(inner);
    }

    Node close_group(Flags flags) {
        Node node = parse_choice(flags);
        if (!reader_.take(')')) {
            reader_.fail("a '(' that is never closed");
        }
        return node;
    }

    Node parse_look_ahead(Flags flags, bool negative) {
        const Node inner = close_group(flags);
        CharacterClass set;
        bool end = false;
        if (!as_one_class(inner, set, end)) {
            reader_.fail("look-ahead for more than one character");
        }
        return negative ? look_ahead_node(complement(set), !end)
                        : look_ahead_node(std::move(set), end);
    }

    static bool as_one_class(const Node& node, CharacterClass& set, bool& end) {
        if (node.kind == Kind::Class || node.kind == Kind::LookAhead) {
            set = unite(set, node.set);
            end = end || node.end;
            // A look-ahead inside a look-ahead is only ever `$` or `\z` here.
            return node.kind == Kind::Class || node.set.empty();
        }
        if (node.kind == Kind::Sequence && node.children.size() == 1) {
            return as_one_class(node.children[0], set, end);
        }
        bool all = node.kind == Kind::Choice;
        for (const Node& child : node.children) {
            all = all && as_one_class(child, set, end);
        }
        return all;
    }

    Node parse_quantifiers(Node item) {
        std::uint32_t least = 0;
        std::uint32_t most = 0;
        while (parse_quantifier(least, most)) {
            Node repeat;
            repeat.kind = Kind::Repeat;
            repeat.least = least;
            repeat.most = most;
            if (reader_.take('?')) {
                repeat.mode = Mode::Lazy;
            } else if (reader_.take('+')) {
                repeat.mode = Mode::Possessive;
            }
            if (matches_empty(item)) {
                reader_.fail("a quantifier on what can match nothing");
            }
            repeat.children.push_back(std::move(item));
            item = std::move(repeat);
        }
        return item;
    }

    static bool matches_empty(const Node& node) {
        if (node.kind == Kind::Class) {
            return false;
        }
        if (node.kind == Kind::Repeat) {
            return node.least == 0 || matches_empty(node.children[0]);
        }
        const bool choice = node.kind == Kind::Choice;
        for (const Node& child : node.children) {
            if (matches_empty(child) == choice) {
                return choice;
            }
        }
        return !choice;
    }

    bool parse_quantifier(std::uint32_t& least, std::uint32_t& most) {
        if (reader_.take('*')) {
            least = 0;
            most = unlimited;
        } else if (reader_.take('+')) {
            least = 1;
            most = unlimited;
        } else if (reader_.take('?')) {
            least = 0;
            most = 1;
        } else if (reader_.take('{')) {
            least = parse_number();
            most = least;
            if (reader_.take(',')) {
                most = !reader_.done() && reader_.peek() == '}' ? unlimited : parse_number();
            }
            if (!reader_.take('}') || most < least) {
                reader_.fail("a malformed {m,n}");
            }
        } else {
            return false;
        }
        return true;
    }

    std::uint32_t parse_number() {
        if (reader_.done() || reader_.peek() < '0' || reader_.peek() > '9') {
            reader_.fail("a '{' that begins no {m}, {m,} or {m,n}");
        }
        std::uint32_t number = 0;
        while (!reader_.done() && reader_.peek() >= '0' && reader_.peek() <= '9') {
            number = number * 10 + static_cast<std::uint32_t>(reader_.peek() - '0');
            reader_.skip(1);
            if (number > most_repeats) {
                reader_.fail("a count above " + std::to_string(most_repeats));
            }
        }
        return number;
    }

    Reader reader_;
    int depth_ = 0;
};

} // namespace

Node parse(std::string_view pattern) { return Parser(pattern).parse_all(); }

} // namespace jogak::pattern
