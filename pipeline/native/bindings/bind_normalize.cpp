#include "bindings.hpp"
#include "jogak/normalize.hpp"

#include <nanobind/stl/pair.h>

namespace jogak::bindings {

namespace {

using Array64 = Output<std::int64_t>;

Array64 validate(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    std::vector<std::int64_t> invalid;
    {
        nb::gil_scoped_release release;
        invalid = validate_utf8(documents);
    }
    return to_numpy(std::move(invalid));
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

} // namespace

void bind_normalize(nb::module_& module) {
    module.def("validate_utf8", &validate, nb::arg("data"), nb::arg("offsets"),
               "Find the first byte of each document that is not valid UTF-8: int64 (documents,),\n"
               "the offset in the document as Python's UnicodeDecodeError.start, or -1.");
    module.def(
        "measure_text", &measure, nb::arg("data"), nb::arg("offsets"),
        "Count the characters and the eojeol (len(text.split()) of Python) of each document\n"
        "of valid UTF-8: int64 (documents,) and int64 (documents,).");
}

} // namespace jogak::bindings
