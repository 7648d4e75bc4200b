#include "bindings.hpp"
#include "jogak/encode.hpp"

#include <array>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <optional>
#include <string_view>

namespace jogak::bindings {

namespace {

MergeRule to_rule(std::string_view name) {
    if (name == "pairs") {
        return MergeRule::pairs;
    }
    if (name == "ranks") {
        return MergeRule::ranks;
    }
    throw std::invalid_argument("encoder: rule must be 'pairs' or 'ranks' (found '" +
                                std::string(name) + "')");
}

template <typename T> [[nodiscard]] std::span<const T> view(const Input<T>& array) {
    return {array.data(), array.size()};
}

void make_encoder(Encoder* self, const Input<std::uint8_t>& token_data,
                  const Input<std::int64_t>& token_offsets, const Input<std::uint32_t>& merges,
                  std::string_view rule, bool whole_first, const EncoderOptions& options) {
    const BpeVocabulary vocabulary{view(token_data), view(token_offsets), view(merges),
                                   to_rule(rule), whole_first};
    const nb::gil_scoped_release release;
    new (self) Encoder(vocabulary, options);
}

std::pair<Output<TokenId>, Output<std::int64_t>>
encode(const Encoder& encoder, const Scanner* scanner, const Input<std::uint8_t>& data,
       const Input<std::int64_t>& offsets, const std::optional<Input<std::int64_t>>& ends) {
    if ((scanner != nullptr) == ends.has_value()) {
        throw std::invalid_argument("encode: exactly one of scanner and ends must be given, but "
                                    "both or neither are None");
    }
    const Documents documents = to_documents(data, offsets);
    EncodedDocuments encoded;
    {
        const nb::gil_scoped_release release;
        encoded =
            ends ? encoder.encode(documents, view(*ends)) : encoder.encode(documents, *scanner);
    }
    return {ids_to_numpy(std::move(encoded.ids)), to_numpy(std::move(encoded.document_ends))};
}

/// One text that a scanner cuts, without the arrays that a batch needs: half of a short call's
/// time.
Output<TokenId> encode_text(const Encoder& encoder, const Scanner& scanner, std::string_view text) {
    const std::array<std::int64_t, 2> offsets{0, static_cast<std::int64_t>(text.size())};
    const Documents documents{{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                              offsets};
    EncodedDocuments encoded;
    {
        const nb::gil_scoped_release release;
        encoded = encoder.encode(documents, scanner);
    }
    return ids_to_numpy(std::move(encoded.ids));
}

} // namespace

void bind_encode(nb::module_& module) {
    nb::class_<Encoder>(module, "Encoder",
                        "A byte-level BPE vocabulary, ready to encode; immutable, shared by "
                        "threads.")
        .def(
            "__init__",
            [](Encoder* self, const Input<std::uint8_t>& token_data,
               const Input<std::int64_t>& token_offsets, const Input<std::uint32_t>& merges,
               std::string_view rule, bool whole_first, std::size_t short_slots,
               std::size_t narrow_slots, std::size_t wide_slots, bool cutting,
               std::size_t classes) {
                make_encoder(self, token_data, token_offsets, merges, rule, whole_first,
                             {short_slots, narrow_slots, wide_slots, cutting, classes});
            },
            nb::arg("token_data"), nb::arg("token_offsets"), nb::arg("merges"), nb::arg("rule"),
            nb::arg("whole_first"), nb::kw_only(), nb::arg("_short_slots") = 0,
            nb::arg("_narrow_slots") = 0, nb::arg("_wide_slots") = 0, nb::arg("_cutting") = true,
            nb::arg("_classes") = EncoderOptions{}.most_classes,
            "Token i's bytes are token_data[token_offsets[i]:token_offsets[i + 1]], none for ids\n"
            "without bytes. rule 'pairs': merges, uint32 (3 * merges,), are left, right and "
            "result\nin rank order; 'ranks': a token's rank is its id and merges is empty.\n"
            "ValueError names a merge or ids that contradict each other. The underscored sizes\n"
            "(0: chosen by vocabulary) are for tests.")
        .def("encode", &encode, nb::arg("scanner").none(), nb::arg("data"), nb::arg("offsets"),
             nb::arg("ends").none(),
             "Encode documents of valid UTF-8, cut by a scanner or at given ends of pretokens\n"
             "(int64 (pretokens,), offsets into data): ids, uint32 (n,), and how many there are "
             "up\nto each document's end, int64 (documents,).")
        .def(
            "encode_text",
            [](const Encoder& encoder, const Scanner& scanner, const nb::bytes& text) {
                return encode_text(encoder, scanner, {text.c_str(), text.size()});
            },
            nb::arg("scanner"), nb::arg("text"),
            "Encode one text of valid UTF-8: its ids, uint32 (n,).")
        .def(
            "_cuts",
            [](const Encoder& encoder, const Input<std::uint8_t>& text, std::size_t begin,
               std::size_t size, const std::string& isa) {
                return to_numpy(encoder.cuts(view(text), begin, size, isa.c_str()));
            },
            nb::arg("text"), nb::arg("begin"), nb::arg("size"), nb::arg("isa"),
            "For tests: bit i of the words says that text[begin + i] starts a character that is "
            "cut\nfrom the one before it.")
        .def_prop_ro("cutting", &Encoder::cutting,
                     "Whether pretokens are cut where no token can join two characters.")
        .def_prop_ro("shared_bytes", &Encoder::shared_bytes,
                     "Memory of the tables, which all threads share.")
        .def_prop_ro("thread_bytes", &Encoder::thread_bytes,
                     "Memory that each concurrent call of encode adds.");
}

} // namespace jogak::bindings
