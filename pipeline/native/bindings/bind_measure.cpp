#include "bindings.hpp"
#include "jogak/measure.hpp"

#include <array>
#include <nanobind/stl/optional.h>
#include <optional>

namespace jogak::bindings {

namespace {

using Counts = nb::ndarray<std::int64_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Output<std::uint8_t> inspect(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    const Documents documents = to_documents(data, offsets);
    std::vector<std::uint8_t> found;
    {
        nb::gil_scoped_release release;
        found = inspect_text(documents);
    }
    return to_numpy(std::move(found));
}

void init(TokenMeter* meter, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
          std::int64_t unknown, std::int64_t strip_start, bool strip_last_space) {
    new (meter) TokenMeter(to_documents(data, offsets), unknown, {strip_start, strip_last_space});
}

Output<std::int64_t> measure(const TokenMeter& meter, const Input<TokenId>& ids,
                             const Input<std::int64_t>& ends, const Input<std::int32_t>& groups,
                             const Counts& counts, const std::optional<Input<std::uint8_t>>& data,
                             const std::optional<Input<std::int64_t>>& offsets) {
    std::optional<Documents> texts;
    if (data.has_value() && offsets.has_value()) {
        texts = to_documents(*data, *offsets);
    }
    if (counts.shape(1) != meter.size()) {
        throw std::invalid_argument("counts must have " + std::to_string(meter.size()) +
                                    " columns, but has " + std::to_string(counts.shape(1)));
    }
    std::vector<TokenSums> sums(counts.shape(0));
    {
        nb::gil_scoped_release release;
        meter.measure({ids.data(), ids.size()}, {ends.data(), ends.size()},
                      {groups.data(), groups.size()}, texts ? &*texts : nullptr, sums,
                      {counts.data(), counts.size()});
    }
    std::vector<std::int64_t> flat;
    flat.reserve(sums.size() * 8);
    for (const TokenSums& sum : sums) {
        const std::array<std::int64_t, 8> row = {
            sum.tokens,         sum.words,     sum.continued_words, sum.partial_tokens,
            sum.unknown_tokens, sum.syllables, sum.split_syllables, sum.exact_documents};
        flat.insert(flat.end(), row.begin(), row.end());
    }
    return to_numpy(std::move(flat));
}

} // namespace

void bind_measure(nb::module_& module) {
    module.def("inspect_text", &inspect, nb::arg("data"), nb::arg("offsets"),
               "Look for damage in each document of valid UTF-8: uint8 (documents,), bit 0\n"
               "decomposed Hangul, bit 1 mojibake.");
    nb::class_<TokenMeter>(module, "TokenMeter",
                           "Sums over tokens, from the bytes of each; immutable.")
        .def("__init__", &init, nb::arg("token_data"), nb::arg("token_offsets"),
             nb::arg("unknown") = -1, nb::arg("strip_start") = 0,
             nb::arg("strip_last_space") = false,
             "Take the bytes of every token, none for an id that stands for no text.")
        .def("measure", &measure, nb::arg("ids"), nb::arg("ends"), nb::arg("groups"),
             nb::arg("counts"), nb::arg("data") = nb::none(), nb::arg("offsets") = nb::none(),
             "Add up the tokens of documents by group: int64 (groups * 8,), in the order of\n"
             "jogak.measures.TokenSums. `counts`, int64 (groups, ids), is added to; with the\n"
             "texts that were encoded, documents are compared with them.");
}

} // namespace jogak::bindings
