#include "bindings.hpp"
#include "jogak/match.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace jogak::bindings {

namespace {

std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint32_t>>
find(const Matcher& matcher, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    std::vector<std::uint32_t> patterns;
    {
        nb::gil_scoped_release release;
        const std::vector<Match> found = matcher.find(documents);
        starts.reserve(found.size());
        ends.reserve(found.size());
        patterns.reserve(found.size());
        for (const Match& match : found) {
            starts.push_back(match.start);
            ends.push_back(match.end);
            patterns.push_back(match.pattern);
        }
    }
    return {to_numpy(std::move(starts)), to_numpy(std::move(ends)), to_numpy(std::move(patterns))};
}

std::pair<Output<std::uint8_t>, Output<std::int64_t>> replace(const Input<std::uint8_t>& data,
                                                              const Input<std::int64_t>& offsets,
                                                              std::string_view old_text,
                                                              std::string_view new_text) {
    const Documents documents = to_documents(data, offsets);
    std::pair<std::vector<std::uint8_t>, std::vector<std::int64_t>> replaced;
    {
        nb::gil_scoped_release release;
        replaced = replace_text(documents, old_text, new_text);
    }
    return {to_numpy(std::move(replaced.first)), to_numpy(std::move(replaced.second))};
}

} // namespace

void bind_match(nb::module_& module) {
    nb::class_<Matcher>(module, "Matcher", "A set of strings to find at once; immutable.")
        .def(nb::init<const std::vector<std::string>&>(), nb::arg("patterns"),
             "Take distinct strings, none empty; ValueError otherwise.")
        .def("find", &find, nb::arg("data"), nb::arg("offsets"),
             "Find the occurrences in documents, leftmost first and then the longest, without\n"
             "overlaps: starts and ends into data, int64 (n,), and pattern numbers, uint32 (n,).");
    module.def("replace_text", &replace, nb::arg("data"), nb::arg("offsets"), nb::arg("old_text"),
               nb::arg("new_text"),
               "Replace every occurrence of a text in documents: the new data, uint8 (n,), and\n"
               "its offsets, int64 (documents + 1,).");
}

} // namespace jogak::bindings
