#include "bindings.hpp"
#include "jogak/encode_characters.hpp"
#include "jogak/encode_unigram.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <string>

namespace jogak::bindings {

namespace {

template <typename T> [[nodiscard]] std::span<const T> view(const Input<T>& array) {
    return {array.data(), array.size()};
}

void make_encoder(CharacterEncoder* self, const Input<std::uint8_t>& token_data,
                  const Input<std::int64_t>& token_offsets, const Input<std::uint32_t>& merges,
                  const Input<std::uint32_t>& byte_ids, std::optional<std::uint32_t> unknown,
                  bool fuse_unknown, bool whole_first, const Input<std::uint32_t>& ranks,
                  std::string_view prefix, std::string_view suffix) {
    static_cast<void>(to_documents(token_data, token_offsets));
    const CharacterVocabulary vocabulary{
        .token_data = view(token_data),
        .token_offsets = view(token_offsets),
        .merges = view(merges),
        .ranks = view(ranks),
        .byte_ids = view(byte_ids),
        .unknown = unknown,
        .fuse_unknown = fuse_unknown,
        .whole_first = whole_first,
        .prefix = prefix,
        .suffix = suffix,
    };
    const nb::gil_scoped_release release;
    new (self) CharacterEncoder(vocabulary);
}

std::tuple<Output<TokenId>, Output<std::int64_t>, Output<std::int64_t>>
encode(const CharacterEncoder& encoder, const Input<std::uint8_t>& data,
       const Input<std::int64_t>& offsets, const Input<std::int64_t>& ends, bool with_ends) {
    const Documents documents = to_documents(data, offsets);
    EncodedPieces encoded;
    {
        const nb::gil_scoped_release release;
        encoded = encoder.encode(documents, view(ends), with_ends);
    }
    return {ids_to_numpy(std::move(encoded.ids)), to_numpy(std::move(encoded.document_ends)),
            to_numpy(std::move(encoded.id_ends))};
}

void make_unigram(UnigramEncoder* self, const Input<std::uint8_t>& token_data,
                  const Input<std::int64_t>& token_offsets, const Input<float>& scores,
                  const Input<std::uint32_t>& user_defined, const Input<std::uint32_t>& byte_ids,
                  std::uint32_t unknown) {
    static_cast<void>(to_documents(token_data, token_offsets));
    new (self) UnigramEncoder({.token_data = view(token_data),
                               .token_offsets = view(token_offsets),
                               .scores = view(scores),
                               .user_defined = view(user_defined),
                               .byte_ids = view(byte_ids),
                               .unknown = unknown});
}

std::tuple<Output<TokenId>, Output<std::int64_t>, Output<std::int64_t>>
encode_unigram(const UnigramEncoder& encoder, const Input<std::uint8_t>& data,
               const Input<std::int64_t>& offsets, bool with_ends) {
    const Documents documents = to_documents(data, offsets);
    EncodedPieces encoded;
    {
        const nb::gil_scoped_release release;
        encoded = encoder.encode(documents, with_ends);
    }
    return {ids_to_numpy(std::move(encoded.ids)), to_numpy(std::move(encoded.document_ends)),
            to_numpy(std::move(encoded.id_ends))};
}

} // namespace

void bind_encode_characters(nb::module_& module) {
    nb::class_<CharacterEncoder>(module, "CharacterEncoder",
                                 "A character-level BPE vocabulary, ready to encode; immutable.")
        .def("__init__", &make_encoder, nb::arg("token_data"), nb::arg("token_offsets"),
             nb::arg("merges"), nb::arg("byte_ids"), nb::arg("unknown").none(), nb::kw_only(),
             nb::arg("fuse_unknown"), nb::arg("whole_first"), nb::arg("ranks"),
             nb::arg("prefix") = "", nb::arg("suffix") = "",
             "Piece i is token_data[token_offsets[i]:token_offsets[i + 1]], UTF-8; merges, uint32\n"
             "(3 * merges,), are left, right and result in rank order; byte_ids, uint32 (256,), "
             "are\nthe ids of the bytes' pieces, or (0,) without byte fallback; ranks, uint32 "
             "(merges,),\nmay say which merges are equal, the leftmost pair before the others: "
             "(0,) where none are.")
        .def("encode", &encode, nb::arg("data"), nb::arg("offsets"), nb::arg("ends"),
             nb::arg("with_ends") = false,
             "Encode documents of valid UTF-8, cut at ends of pretokens (int64, offsets into\n"
             "data): ids, uint32 (n,), how many there are up to each document's end, int64\n"
             "(documents,), and, if asked for, where each id's text ends in data, int64 (n,).")
        .def_prop_ro("cutting", &CharacterEncoder::cutting,
                     "Whether pretokens are cut where no token can join two characters.");
    nb::class_<UnigramEncoder>(module, "UnigramEncoder",
                               "A Unigram vocabulary, ready to encode; immutable.")
        .def("__init__", &make_unigram, nb::arg("token_data"), nb::arg("token_offsets"),
             nb::arg("scores"), nb::arg("user_defined"), nb::arg("byte_ids"), nb::arg("unknown"),
             "Pieces as in CharacterEncoder, their scores, float32 (ids,), and the ids of those\n"
             "that are chosen wherever they can be, uint32 (n,).")
        .def("encode", &encode_unigram, nb::arg("data"), nb::arg("offsets"),
             nb::arg("with_ends") = false,
             "Encode documents of valid UTF-8, each as a whole; returns as CharacterEncoder does.");
}

} // namespace jogak::bindings
