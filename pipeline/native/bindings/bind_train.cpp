#include "bindings.hpp"
#include "jogak/train.hpp"

#include <array>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

namespace jogak::bindings {

namespace {

using Arrays = std::tuple<Output<TokenId>, Output<TokenId>, Output<Count>>;

/// In the order of Ties.
constexpr std::array<std::string_view, 4> tie_names{"smallest_ids", "lexicographic", "largest",
                                                    "first_seen"};

std::string_view ties(const TrainOptions& options) {
    return tie_names[static_cast<std::size_t>(options.ties)];
}

void set_ties(TrainOptions& options, std::string_view name) {
    for (std::size_t i = 0; i < tie_names.size(); ++i) {
        if (tie_names[i] == name) {
            options.ties = static_cast<Ties>(i);
            return;
        }
    }
    throw std::invalid_argument("ties must be smallest_ids, lexicographic, largest or first_seen, "
                                "but is " +
                                std::string(name));
}

std::vector<std::string> to_strings(const Input<std::uint8_t>& data,
                                    const Input<std::int64_t>& offsets) {
    const Documents view = to_documents(data, offsets);
    std::vector<std::string> strings;
    for (std::size_t i = 0; i < view.size(); ++i) {
        strings.emplace_back(view[i]);
    }
    return strings;
}

Arrays run(const TrainInput& input, const TrainOptions& options, TrainControl& control) {
    Merges merges;
    {
        nb::gil_scoped_release release;
        merges = train_merges(input, options, control);
    }
    return {to_numpy(std::move(merges.left)), to_numpy(std::move(merges.right)),
            to_numpy(std::move(merges.counts))};
}

Arrays train(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
             const Input<Count>& counts, const Input<std::uint64_t>& first,
             const Input<std::uint8_t>& alphabet_data, const Input<std::int64_t>& alphabet_offsets,
             const TrainOptions& options, TrainControl& control, bool characters,
             std::string_view suffix) {
    const TrainInput input{
        to_documents(data, offsets),
        {counts.data(), counts.size()},
        {first.data(), first.size()},
        {to_strings(alphabet_data, alphabet_offsets), characters, std::string(suffix)},
        {},
        {}};
    return run(input, options, control);
}

Arrays train_encoded(const Input<TokenId>& symbols, const Input<std::int64_t>& offsets,
                     const Input<Count>& counts, const Input<std::uint64_t>& first,
                     const Input<std::uint8_t>& token_data,
                     const Input<std::int64_t>& token_offsets, const TrainOptions& options,
                     TrainControl& control, std::string_view suffix) {
    const TrainInput input{{},
                           {counts.data(), counts.size()},
                           {first.data(), first.size()},
                           {to_strings(token_data, token_offsets), false, std::string(suffix)},
                           {symbols.data(), symbols.size()},
                           {offsets.data(), offsets.size()}};
    if (!input.encoded()) {
        throw std::invalid_argument("offsets must not be empty");
    }
    return run(input, options, control);
}

std::tuple<Output<Count>, Output<std::uint8_t>> characters(const Input<std::uint8_t>& data,
                                                           const Input<std::int64_t>& offsets,
                                                           const Input<Count>& counts) {
    const Documents pretokens = to_documents(data, offsets);
    CharacterCounts found;
    {
        nb::gil_scoped_release release;
        found = count_characters(pretokens, {counts.data(), counts.size()});
    }
    return {to_numpy(std::move(found.occurrences)), to_numpy(std::move(found.ends))};
}

std::tuple<std::size_t, Count, nb::bytes> snapshot(const TrainControl& control) {
    const TrainControl::Snapshot latest = control.snapshot();
    return {latest.merges, latest.count, nb::bytes(latest.token.data(), latest.token.size())};
}

} // namespace

void bind_train(nb::module_& module) {
    nb::class_<TrainControl>(module, "TrainControl",
                             "Lets other threads watch a training run and stop it.")
        .def(nb::init<>())
        .def("cancel", &TrainControl::cancel, "Stop the run after the merge under way.")
        .def_prop_ro("cancelled", &TrainControl::cancelled, "Whether cancel() was called.")
        .def("snapshot", &snapshot,
             "Return (merges made, count of the last one, bytes of the token it made).");

    nb::class_<TrainTuning>(module, "TrainTuning",
                            "Parameters that change time and memory, never the result.")
        .def(nb::init<>())
        .def_rw("exact_length", &TrainTuning::exact_length)
        .def_rw("prune_below", &TrainTuning::prune_below)
        .def_rw("block", &TrainTuning::block)
        .def_rw("bucket_limit", &TrainTuning::bucket_limit)
        .def_rw("narrow_tokens", &TrainTuning::narrow_tokens)
        .def_rw("short_text", &TrainTuning::short_text)
        .def_rw("share", &TrainTuning::share)
        .def_rw("parallel_from", &TrainTuning::parallel_from)
        .def_rw("segment_merges", &TrainTuning::segment_merges)
        .def_rw("segment_percent", &TrainTuning::segment_percent)
        .def_rw("segment_joins", &TrainTuning::segment_joins)
        .def_rw("segments", &TrainTuning::segments)
        .def_rw("check_counts", &TrainTuning::check_counts);

    nb::class_<TrainOptions>(module, "TrainOptions", "What to train; see train.hpp.")
        .def(nb::init<>())
        .def_rw("merges", &TrainOptions::merges)
        .def_prop_rw("ties", &ties, &set_ties)
        .def_rw("min_count", &TrainOptions::min_count)
        .def_rw("max_token_bytes", &TrainOptions::max_token_bytes)
        .def_rw("max_token_chars", &TrainOptions::max_token_chars)
        .def_rw("whole_characters", &TrainOptions::whole_characters)
        .def_rw("threads", &TrainOptions::threads)
        .def_rw("tuning", &TrainOptions::tuning)
        .def(
            "forbid",
            [](TrainOptions& options, const Input<std::uint8_t>& data,
               const Input<std::int64_t>& offsets) {
                options.forbidden = to_strings(data, offsets);
            },
            nb::arg("data"), nb::arg("offsets"), "Name the strings that no merge may make.");

    module.def("train_merges", &train, nb::arg("data"), nb::arg("offsets"), nb::arg("counts"),
               nb::arg("first"), nb::arg("alphabet_data"), nb::arg("alphabet_offsets"),
               nb::arg("options"), nb::arg("control"), nb::arg("characters") = false,
               nb::arg("suffix") = "",
               "Train on counted pretokens; returns (left uint32, right uint32, counts uint64), "
               "each\n(merges,). Merge i makes token alphabet + i. Returns early when cancelled.");

    module.def("count_characters", &characters, nb::arg("data"), nb::arg("offsets"),
               nb::arg("counts"),
               "Count the characters of pretokens, valid UTF-8: occurrences uint64 and whether one "
               "ends a\npretoken uint8, each (0x110000,) by code point.");

    module.def("train_encoded", &train_encoded, nb::arg("symbols"), nb::arg("offsets"),
               nb::arg("counts"), nb::arg("first"), nb::arg("token_data"), nb::arg("token_offsets"),
               nb::arg("options"), nb::arg("control"), nb::arg("suffix") = "",
               "Train on words that are encoded in these tokens already; returns as train_merges. "
               "Merge i makes\ntoken tokens + i.");
}

} // namespace jogak::bindings
