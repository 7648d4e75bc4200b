#include "bindings.hpp"
#include "jogak/merge_list.hpp"

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

} // namespace

void bind_merge_list(nb::module_& module) {
    module.def("merge_ids", &find, nb::arg("tokens"), nb::arg("separator"), nb::arg("ids"),
               nb::arg("merges"), nb::arg("outer"), nb::arg("inner"), nb::arg("count"),
               nb::arg("prefix_characters"),
               "Return left, right and result of merges as ids, uint32 (3 * count,), 2**32 - 1\n"
               "where there is no such token. Tokens stand apart by a separator, merges by\n"
               "`outer`, the two parts of each by `inner`; ValueError where they do not.");
}

} // namespace jogak::bindings
