#include "bindings.hpp"
#include "jogak/pretokenize.hpp"

#include <algorithm>
#include <array>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

namespace jogak::bindings {

namespace {

std::pair<Output<std::int64_t>, Output<std::int64_t>>
scan(const Scanner& scanner, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> document_ends;
    {
        nb::gil_scoped_release release;
        document_ends.reserve(documents.size());
        std::array<std::uint32_t, 4096> chunk;
        for (std::size_t index = 0; index < documents.size(); ++index) {
            const std::string_view text = documents[index];
            std::size_t start = 0;
            while (start < text.size()) {
                const std::size_t found = scanner.scan(text, start, chunk.data(), chunk.size());
                const std::int64_t base = documents.offsets[index];
                const std::size_t known = ends.size();
                ends.resize(known + found);
                std::transform(chunk.begin(), chunk.begin() + found, ends.begin() + known,
                               [base](std::uint32_t end) { return base + end; });
                start = chunk[found - 1];
            }
            document_ends.push_back(static_cast<std::int64_t>(ends.size()));
        }
    }
    return {to_numpy(std::move(ends)), to_numpy(std::move(document_ends))};
}

Output<std::uint32_t> ranges_of(std::string_view pattern) {
    std::vector<std::uint32_t> flat;
    for (const CodePointRange& range : character_class(pattern)) {
        flat.push_back(range.first);
        flat.push_back(range.last);
    }
    return to_numpy(std::move(flat));
}

} // namespace

void bind_pretokenize(nb::module_& module) {
    nb::class_<Scanner>(module, "Scanner", "A compiled pattern; immutable, shared by threads.")
        .def(nb::init<std::string_view, const char*>(), nb::arg("pattern"), nb::arg("isa") = "",
             "Compile a pattern; ValueError names a construct outside the subset.\n\n"
             "isa is scalar, avx2 or avx512; by default what JOGAK_ISA says, or the best there is.")
        .def("scan", &scan, nb::arg("data"), nb::arg("offsets"),
             "Find the pretokens of documents (valid UTF-8): their ends as offsets into data,\n"
             "int64 (pretokens,), and how many there are up to each document's end, int64 "
             "(documents,).")
        .def_prop_ro("matches_everything", &Scanner::matches_everything,
                     "No text has a part that the pattern leaves unmatched.")
        .def_prop_ro("linear", &Scanner::linear, "No text is read more than a few times.")
        .def_prop_ro("by_masks", &Scanner::by_masks, "Vector kernels scan this pattern here.")
        .def_prop_ro("states", &Scanner::states, "The states of the automaton.");
    module.def("character_class", &ranges_of, nb::arg("pattern"),
               "Find the code points that a pattern of one character matches, Unicode 16: uint32\n"
               "(2 * ranges,), the first and last of each range; ValueError outside the subset.");
    module.def("unicode_version", &unicode_version, "The version of the Unicode tables.");
}

} // namespace jogak::bindings
