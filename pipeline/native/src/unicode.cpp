#include "jogak/unicode.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace jogak {

namespace {

struct CategoryName {
    std::string_view short_name;
    std::string_view long_name;
};

constexpr std::array<CategoryName, 30> category_names{{
    {"lu", "uppercaseletter"},    {"ll", "lowercaseletter"},  {"lt", "titlecaseletter"},
    {"lm", "modifierletter"},     {"lo", "otherletter"},      {"mn", "nonspacingmark"},
    {"mc", "spacingmark"},        {"me", "enclosingmark"},    {"nd", "decimalnumber"},
    {"nl", "letternumber"},       {"no", "othernumber"},      {"pc", "connectorpunctuation"},
    {"pd", "dashpunctuation"},    {"ps", "openpunctuation"},  {"pe", "closepunctuation"},
    {"pi", "initialpunctuation"}, {"pf", "finalpunctuation"}, {"po", "otherpunctuation"},
    {"sm", "mathsymbol"},         {"sc", "currencysymbol"},   {"sk", "modifiersymbol"},
    {"so", "othersymbol"},        {"zs", "spaceseparator"},   {"zl", "lineseparator"},
    {"zp", "paragraphseparator"}, {"cc", "control"},          {"cf", "format"},
    {"cs", "surrogate"},          {"co", "privateuse"},       {"cn", "unassigned"},
}};

// The groups are the categories whose short name begins with the letter.
constexpr std::array<CategoryName, 7> group_names{{
    {"l", "letter"},
    {"m", "mark"},
    {"n", "number"},
    {"p", "punctuation"},
    {"s", "symbol"},
    {"z", "separator"},
    {"c", "other"},
}};

template <typename Keep> CharacterClass from_runs(std::span<const std::uint32_t> runs, Keep keep) {
    CharacterClass set;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (keep(runs[i] & 0xFFU)) {
            const std::uint32_t last =
                i + 1 < runs.size() ? (runs[i + 1] >> 8U) - 1 : last_code_point;
            set.push_back({runs[i] >> 8U, last});
        }
    }
    return normalized(std::move(set));
}

CharacterClass category_class(std::uint32_t wanted) {
    return from_runs(unicode_tables::category_runs,
                     [=](std::uint32_t value) { return value == wanted; });
}

CharacterClass categories_class(std::initializer_list<Category> wanted) {
    CharacterClass set;
    for (const Category category : wanted) {
        set = unite(set, category_class(static_cast<std::uint32_t>(category)));
    }
    return set;
}

CharacterClass group_class(char letter) {
    return from_runs(unicode_tables::category_runs, [=](std::uint32_t value) {
        return category_names[value].short_name[0] == letter;
    });
}

// UAX 44, LM3: case, spaces, hyphens and underscores do not count.
std::string loose(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (c != ' ' && c != '-' && c != '_') {
            result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
        }
    }
    return result;
}

bool find_category(std::string_view name, CharacterClass& found) {
    for (std::uint32_t value = 0; value < category_names.size(); ++value) {
        if (name == category_names[value].short_name || name == category_names[value].long_name) {
            found = category_class(value);
            return true;
        }
    }
    for (const CategoryName& group : group_names) {
        if (name == group.short_name || name == group.long_name) {
            found = group_class(group.short_name[0]);
            return true;
        }
    }
    return false;
}

bool find_script(std::string_view name, CharacterClass& found) {
    for (std::uint32_t i = 0; i < unicode_tables::script_names.size(); ++i) {
        if (name == loose(unicode_tables::script_names[i])) {
            found = from_runs(unicode_tables::script_runs,
                              [=](std::uint32_t value) { return value == i + 1; });
            return true;
        }
    }
    return false;
}

bool find_other(std::string_view name, CharacterClass& found) {
    if (name == "any") {
        found = {{0, last_code_point}};
    } else if (name == "ascii") {
        found = {{0, 0x7F}};
    } else if (name == "assigned") {
        found = complement(category_class(static_cast<std::uint32_t>(Category::Cn)));
    } else if (name == "whitespace") {
        found = space_class();
    } else {
        return false;
    }
    return true;
}

} // namespace

std::string_view unicode_version() noexcept { return unicode_tables::version; }

Category general_category(std::uint32_t code_point) noexcept {
    if (code_point > last_code_point) {
        return Category::Cn;
    }
    const auto runs = unicode_tables::category_runs;
    const auto after = std::upper_bound(runs.begin(), runs.end(), (code_point << 8U) | 0xFFU);
    return static_cast<Category>(*(after - 1) & 0xFFU);
}

CharacterClass property_class(std::string_view name) {
    CharacterClass found;
    const std::size_t equals = name.find('=');
    const std::string value = loose(name.substr(equals == name.npos ? 0 : equals + 1));
    const std::string key = equals == name.npos ? "" : loose(name.substr(0, equals));
    const bool any_key = key.empty() && equals == name.npos;
    const bool category = any_key || key == "gc" || key == "generalcategory";
    const bool script = any_key || key == "sc" || key == "script";
    if ((category && find_category(value, found)) || (script && find_script(value, found)) ||
        (any_key && find_other(value, found))) {
        return found;
    }
    throw std::invalid_argument("the property \\p{" + std::string(name) + "}");
}

CharacterClass space_class() {
    return {{0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
            {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
            {0x205F, 0x205F}, {0x3000, 0x3000}};
}

CharacterClass digit_class() { return category_class(static_cast<std::uint32_t>(Category::Nd)); }

CharacterClass word_class() {
    // What Alphabetic has beyond L, M and Nl: the circled and squared letters (Other_Alphabetic).
    const CharacterClass letters_in_frames{
        {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    const CharacterClass join_control{{0x200C, 0x200D}};
    const CharacterClass rest = categories_class({Category::Nd, Category::Nl, Category::Pc});
    return unite(unite(unite(group_class('l'), group_class('m')), rest),
                 unite(letters_in_frames, join_control));
}

CharacterClass normalized(CharacterClass ranges) {
    std::sort(ranges.begin(), ranges.end());
    CharacterClass result;
    for (const CodePointRange& range : ranges) {
        if (!result.empty() && range.first <= result.back().last + 1) {
            result.back().last = std::max(result.back().last, range.last);
        } else {
            result.push_back(range);
        }
    }
    return result;
}

CharacterClass complement(const CharacterClass& set) {
    CharacterClass result;
    std::uint32_t next = 0;
    for (const CodePointRange& range : set) {
        if (range.first > next) {
            result.push_back({next, range.first - 1});
        }
        next = range.last + 1;
    }
    if (next <= last_code_point) {
        result.push_back({next, last_code_point});
    }
    return result;
}

CharacterClass unite(const CharacterClass& left, const CharacterClass& right) {
    CharacterClass both = left;
    both.insert(both.end(), right.begin(), right.end());
    return normalized(std::move(both));
}

CharacterClass intersect(const CharacterClass& left, const CharacterClass& right) {
    return complement(unite(complement(left), complement(right)));
}

bool contains(const CharacterClass& set, std::uint32_t code_point) noexcept {
    const auto after = std::upper_bound(
        set.begin(), set.end(), code_point,
        [](std::uint32_t code, const CodePointRange& r) { return code < r.first; });
    return after != set.begin() && code_point <= (after - 1)->last;
}

} // namespace jogak
