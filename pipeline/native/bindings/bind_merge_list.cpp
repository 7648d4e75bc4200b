#include "bindings.hpp"
#include "jogak/merge_list.hpp"

#include <nanobind/stl/tuple.h>
#include <string_view>

namespace jogak::bindings {

namespace {

[[nodiscard]] std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

Output<TokenId> find(const nb::bytes& tokens, const nb::bytes& separator, const Input<TokenId>& ids,
                     const nb::bytes& merges, const nb::bytes& outer, const nb::bytes& inner,
                     std::size_t count, std::size_t prefix_characters) {
    if (separator.size() == 0 || outer.size() == 0 || inner.size() == 0) {
        throw std::invalid_argument("separators must not be empty");
    }
    const MergeText text{view(merges), view(outer), view(inner), count, prefix_characters};
    std::vector<TokenId> found;
    {
        const std::string_view token_text = view(tokens);
        const std::string_view between = view(separator);
        const nb::gil_scoped_release release;
        found = merge_ids(token_text, between, {ids.data(), ids.size()}, text);
    }
    return to_numpy(std::move(found));
}

std::tuple<Output<std::uint8_t>, Output<std::int64_t>> join(const Input<std::uint8_t>& data,
                                                            const Input<std::int64_t>& offsets,
                                                            const Input<TokenId>& left,
                                                            const Input<TokenId>& right) {
    if (left.size() != right.size()) {
        throw std::invalid_argument("left and right must have one entry for each merge, but have " +
                                    std::to_string(left.size()) + " and " +
                                    std::to_string(right.size()));
    }
    const Documents base = to_documents(data, offsets);
    TokenBytes made;
    {
        const nb::gil_scoped_release release;
        made = join_merges(base, {left.data(), left.size()}, {right.data(), right.size()});
    }
    return {to_numpy(std::move(made.data)), to_numpy(std::move(made.offsets))};
}

} // namespace

void bind_merge_list(nb::module_& module) {
    module.def("merge_ids", &find, nb::arg("tokens"), nb::arg("separator"), nb::arg("ids"),
               nb::arg("merges"), nb::arg("outer"), nb::arg("inner"), nb::arg("count"),
               nb::arg("prefix_characters"),
               "Return left, right and result of merges as ids, uint32 (3 * count,), 2**32 - 1\n"
               "where there is no such token. Tokens stand apart by a separator, merges by\n"
               "`outer`, the two parts of each by `inner`; ValueError where they do not.");

    module.def(
        "join_merges", &join, nb::arg("data"), nb::arg("offsets"), nb::arg("left"),
        nb::arg("right"),
        "Return the bytes of all ids, end to end, uint8, and their offsets, int64: those of\n"
        "the base given, then what each merge of two earlier ids makes.");
}

} // namespace jogak::bindings
