#include "bindings.hpp"
#include "jogak/normalize.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

namespace jogak::bindings {

namespace {

using Array64 = Output<std::int64_t>;

Array64 validate(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                 const char* isa) {
    const Documents documents = to_documents(data, offsets);
    std::vector<std::int64_t> invalid;
    {
        nb::gil_scoped_release release;
        invalid = validate_utf8(documents, isa);
    }
    return to_numpy(std::move(invalid));
}

Array64 lines(const Input<std::uint8_t>& data, const char* isa) {
    std::vector<std::int64_t> offsets;
    {
        nb::gil_scoped_release release;
        offsets = line_offsets({reinterpret_cast<const char*>(data.data()), data.size()}, isa);
    }
    return to_numpy(std::move(offsets));
}

std::pair<Array64, Array64> measure(const Input<std::uint8_t>& data,
                                    const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    TextMeasures measures;
    {
        nb::gil_scoped_release release;
        measures = measure_text(documents);
    }
    return {to_numpy(std::move(measures.characters)), to_numpy(std::move(measures.eojeol))};
}

NormalForm to_form(std::string_view name) {
    if (name == "nfc") {
        return NormalForm::nfc;
    }
    if (name == "nfkc") {
        return NormalForm::nfkc;
    }
    if (name == "nfkc_keep_jamo") {
        return NormalForm::nfkc_keep_jamo;
    }
    throw std::invalid_argument("form must be nfc, nfkc or nfkc_keep_jamo, but is " +
                                std::string(name));
}

Output<std::uint8_t> check(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                           std::string_view form) {
    const Documents documents = to_documents(data, offsets);
    const NormalForm wanted = to_form(form);
    std::vector<std::uint8_t> checks;
    {
        nb::gil_scoped_release release;
        checks.reserve(documents.size());
        for (const FormCheck found : check_form(documents, wanted)) {
            checks.push_back(static_cast<std::uint8_t>(found));
        }
    }
    return to_numpy(std::move(checks));
}

using Rewritten = std::tuple<Output<std::uint8_t>, Array64, Output<std::uint8_t>>;

template <typename Rewrite>
Rewritten rewrite(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                  const Rewrite& rewrite_documents) {
    const Documents documents = to_documents(data, offsets);
    RewrittenDocuments result;
    {
        nb::gil_scoped_release release;
        result = rewrite_documents(documents);
    }
    return {to_numpy(std::move(result.data)), to_numpy(std::move(result.offsets)),
            to_numpy(std::move(result.changed))};
}

Rewritten compose(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    return rewrite(data, offsets, compose_jamo);
}

Rewritten clean(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                bool lf_newlines, bool remove_control, bool collapse_spaces) {
    const CleanRules rules{lf_newlines, remove_control, collapse_spaces};
    return rewrite(data, offsets,
                   [&](const Documents& documents) { return clean_text(documents, rules); });
}

} // namespace

void bind_normalize(nb::module_& module) {
    module.def("validate_utf8", &validate, nb::arg("data"), nb::arg("offsets"), nb::arg("isa") = "",
               "Find the first byte of each document that is not valid UTF-8: int64 (documents,),\n"
               "the offset in the document as Python's UnicodeDecodeError.start, or -1.");
    module.def("line_offsets", &lines, nb::arg("data"), nb::arg("isa") = "",
               "Return where the lines of a text begin, and its end: int64 (lines + 1,).");
    module.def(
        "measure_text", &measure, nb::arg("data"), nb::arg("offsets"),
        "Count the characters and the eojeol (len(text.split()) of Python) of each document\n"
        "of valid UTF-8: int64 (documents,) and int64 (documents,).");
    module.def("check_form", &check, nb::arg("data"), nb::arg("offsets"), nb::arg("form"),
               "Check each document of valid UTF-8 for a normal form (nfc, nfkc, nfkc_keep_jamo):\n"
               "uint8 (documents,), 0 in the form, 1 but for jamo that compose, 2 unknown.");
    module.def("compose_jamo", &compose, nb::arg("data"), nb::arg("offsets"),
               "Compose conjoining jamo: data, offsets and which documents changed, uint8\n"
               "(documents,). When none did, data and offsets are empty.");
    module.def("clean_text", &clean, nb::arg("data"), nb::arg("offsets"), nb::kw_only(),
               nb::arg("lf_newlines"), nb::arg("remove_control"), nb::arg("collapse_spaces"),
               "Apply cleaning rules: data, offsets and which documents changed, uint8\n"
               "(documents,). When none did, data and offsets are empty.");
}

} // namespace jogak::bindings
