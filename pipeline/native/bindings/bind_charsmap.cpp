#include "bindings.hpp"
#include "jogak/charsmap.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace jogak::bindings {

namespace {

using Buffers = std::pair<Output<std::uint8_t>, Output<std::int64_t>>;

Buffers apply(const CharsMap& map, const Input<std::uint8_t>& data,
              const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>> made;
    {
        const nb::gil_scoped_release release;
        made = map.apply(documents);
    }
    return {to_numpy(std::move(made.first)), to_numpy(std::move(made.second))};
}

Buffers edit(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets, bool strip_start,
             bool squeeze, std::string_view strip_end) {
    const Documents documents = to_documents(data, offsets);
    std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>> made;
    {
        const nb::gil_scoped_release release;
        made = edit_spaces(documents, {strip_start, squeeze, strip_end});
    }
    return {to_numpy(std::move(made.first)), to_numpy(std::move(made.second))};
}

} // namespace

void bind_charsmap(nb::module_& module) {
    nb::class_<CharsMap>(module, "CharsMap",
                         "The normalization that a SentencePiece model carries; immutable.")
        .def(
            "__init__",
            [](CharsMap* self, const Input<std::uint8_t>& blob,
               const std::vector<std::string>& kept) {
                new (self) CharsMap({blob.data(), blob.size()}, kept);
            },
            nb::arg("blob"), nb::arg("kept") = std::vector<std::string>{},
            "Take a model's precompiled_charsmap; ValueError when damaged. Strings to be kept "
            "stay\n"
            "as they are, the longest at a place before any of the map.")
        .def("apply", &apply, nb::arg("data"), nb::arg("offsets"),
             "Normalize documents: the new data, uint8 (n,), and its offsets, int64.");
    module.def(
        "edit_spaces", &edit, nb::arg("data"), nb::arg("offsets"), nb::kw_only(),
        nb::arg("strip_start") = false, nb::arg("squeeze") = false, nb::arg("strip_end") = "",
        "Edit the white space of documents: take U+0020 off the front, make one of a run of\n"
        "several, take a text off the end as often as it is there. Returns the new data,\n"
        "uint8 (n,), and its offsets, int64 (documents + 1,).");
}

} // namespace jogak::bindings
