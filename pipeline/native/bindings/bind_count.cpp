#include "bindings.hpp"
#include "jogak/count.hpp"

#include <atomic>
#include <memory>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <vector>

namespace jogak::bindings {

namespace {

using Arrays =
    std::tuple<Output<std::uint8_t>, Output<std::int64_t>, Output<Count>, Output<std::uint64_t>>;

/// A counter that refuses a second thread instead of corrupting its tables.
struct GuardedCounter {
    explicit GuardedCounter(bool single_part) : counter(single_part) {}

    PretokenCounter counter;
    std::atomic_flag busy;
};

class Use {
  public:
    explicit Use(GuardedCounter& guarded) : guarded_(guarded) {
        if (guarded.busy.test_and_set(std::memory_order_acquire)) {
            throw std::runtime_error("a PretokenCounter serves one thread at a time; "
                                     "give each thread its own and merge them");
        }
    }
    ~Use() { guarded_.busy.clear(std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

  private:
    GuardedCounter& guarded_;
};

void check_table(std::int32_t language) {
    if (language < 0) {
        throw std::invalid_argument("language must be 0 or more, but is " +
                                    std::to_string(language));
    }
}

using Place = std::tuple<std::size_t, std::size_t, std::size_t>;

CountedUpTo from_place(const Place& place) {
    return {std::get<0>(place), std::get<1>(place), std::get<2>(place)};
}

Place to_place(const CountedUpTo& counted) {
    return {counted.document, counted.start, counted.end};
}

Place add(GuardedCounter& guarded, const Scanner& scanner, const Input<std::uint8_t>& data,
          const Input<std::int64_t>& offsets, const Input<std::int32_t>& languages,
          std::uint64_t base, const Place& place, std::size_t limit_bytes) {
    const Documents documents = to_documents(data, offsets);
    const Use use(guarded);
    nb::gil_scoped_release release;
    return to_place(guarded.counter.add(scanner, documents, {languages.data(), languages.size()},
                                        base, from_place(place), limit_bytes));
}

Place add_ends(GuardedCounter& guarded, const Input<std::uint8_t>& data,
               const Input<std::int64_t>& offsets, const Input<std::int64_t>& ends,
               const Input<std::int32_t>& languages, std::uint64_t base, const Place& place,
               std::size_t limit_bytes) {
    const Documents documents = to_documents(data, offsets);
    const Use use(guarded);
    nb::gil_scoped_release release;
    return to_place(guarded.counter.add_ends(documents, {ends.data(), ends.size()},
                                             {languages.data(), languages.size()}, base,
                                             from_place(place), limit_bytes));
}

void add_counts(GuardedCounter& guarded, std::int32_t language, const Input<std::uint8_t>& data,
                const Input<std::int64_t>& offsets, const Input<Count>& counts,
                const Input<std::uint64_t>& first) {
    check_table(language);
    const Documents pretokens = to_documents(data, offsets);
    if (counts.size() != pretokens.size() || first.size() != pretokens.size()) {
        throw std::invalid_argument("counts and first must have one entry for each of " +
                                    std::to_string(pretokens.size()) + " pretokens, but have " +
                                    std::to_string(counts.size()) + " and " +
                                    std::to_string(first.size()));
    }
    const Use use(guarded);
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < pretokens.size(); ++i) {
        if (pretokens[i].empty() || counts.data()[i] == 0) {
            throw std::invalid_argument("pretokens must not be empty nor have a count of 0, but "
                                        "number " +
                                        std::to_string(i) + " is or has");
        }
    }
    // Those of a part come in the order of their hashes. Added in that order, they would pile up at
    // the beginning of a table that grows, so every 64th is, then those next to them, and so on.
    constexpr std::size_t stride = 32;
    PretokenTable& table = guarded.counter.table(language);
    for (std::size_t start = 0; start < stride; ++start) {
        for (std::size_t i = start; i < pretokens.size(); i += stride) {
            table.add(pretokens[i], counts.data()[i], first.data()[i]);
        }
    }
}

Arrays to_arrays(PretokenArrays&& arrays) {
    return {to_numpy(std::move(arrays.data)), to_numpy(std::move(arrays.offsets)),
            to_numpy(std::move(arrays.counts)), to_numpy(std::move(arrays.first))};
}

/// Counters that are used together, each once.
class UseAll {
  public:
    explicit UseAll(GuardedCounter& first) { add(first); }

    void add(GuardedCounter& guarded) {
        uses_.push_back(std::make_unique<Use>(guarded));
        counters_.push_back(&guarded.counter);
    }

    [[nodiscard]] std::vector<PretokenTable*> tables(std::int32_t language) const {
        std::vector<PretokenTable*> found;
        for (PretokenCounter* counter : counters_) {
            found.push_back(&counter->table(language));
        }
        return found;
    }

  private:
    std::vector<std::unique_ptr<Use>> uses_;
    std::vector<PretokenCounter*> counters_;
};

Arrays finish(GuardedCounter& guarded, std::int32_t language, bool keep,
              const std::vector<GuardedCounter*>& others, unsigned threads) {
    check_table(language);
    UseAll all(guarded);
    for (GuardedCounter* other : others) {
        all.add(*other);
    }
    PretokenArrays arrays;
    {
        nb::gil_scoped_release release;
        arrays = PretokenTable::sorted(all.tables(language), std::max(threads, 1U), keep);
    }
    return to_arrays(std::move(arrays));
}

Arrays part(GuardedCounter& guarded, std::int32_t language, std::size_t index) {
    check_table(language);
    if (index >> PretokenTable::part_bits != 0) {
        throw std::invalid_argument("a part must be below " +
                                    std::to_string(1U << PretokenTable::part_bits) + ", but is " +
                                    std::to_string(index));
    }
    const Use use(guarded);
    PretokenArrays arrays;
    {
        nb::gil_scoped_release release;
        arrays = guarded.counter.table(language).part(index);
    }
    return to_arrays(std::move(arrays));
}

void merge(GuardedCounter& guarded, GuardedCounter& other) {
    if (&guarded == &other) {
        throw std::invalid_argument("a counter cannot be merged with itself");
    }
    const Use use(guarded);
    const Use use_other(other);
    nb::gil_scoped_release release;
    guarded.counter.merge(other.counter);
}

void clear(GuardedCounter& guarded) {
    const Use use(guarded);
    guarded.counter.clear();
}

Output<std::int64_t> find_pretokens(const Input<std::uint8_t>& data,
                                    const Input<std::int64_t>& offsets,
                                    const Input<std::uint8_t>& wanted_data,
                                    const Input<std::int64_t>& wanted_offsets) {
    const Documents pretokens = to_documents(data, offsets);
    const Documents wanted = to_documents(wanted_data, wanted_offsets);
    std::vector<std::int64_t> rows(wanted.size());
    {
        nb::gil_scoped_release release;
        PretokenTable table(true);
        for (std::size_t i = 0; i < pretokens.size(); ++i) {
            table.add(pretokens[i], 1, i);
        }
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            rows[i] = static_cast<std::int64_t>(table.find(wanted[i], ~std::uint64_t{0}));
        }
    }
    return to_numpy(std::move(rows));
}

} // namespace

void bind_count(nb::module_& module) {
    nb::class_<GuardedCounter>(module, "PretokenCounter",
                               "Counts distinct pretokens, one table per language; one thread at a "
                               "time.")
        .def(nb::init<bool>(), nb::arg("single_part") = false,
             "A counter for documents, or one that sums pretokens of a single part as well as of "
             "all.")
        .def("add", &add, nb::arg("scanner"), nb::arg("data"), nb::arg("offsets"),
             nb::arg("languages"), nb::arg("base"), nb::arg("place") = Place{0, 0, 0},
             nb::arg("limit_bytes") = ~std::size_t{0},
             "Count the pretokens of documents; languages int32 (documents,) chooses the tables.\n"
             "A pretoken's position is base plus its offset from the first document's beginning.\n"
             "Returns the place reached, whose document is the number of documents unless\n"
             "limit_bytes were about to be passed; then call again with it after clear().")
        .def("add_ends", &add_ends, nb::arg("data"), nb::arg("offsets"), nb::arg("ends"),
             nb::arg("languages"), nb::arg("base"), nb::arg("place") = Place{0, 0, 0},
             nb::arg("limit_bytes") = ~std::size_t{0},
             "The same for pretokens found elsewhere: ends int64 (pretokens,), offsets into data.")
        .def("add_counts", &add_counts, nb::arg("language"), nb::arg("data"), nb::arg("offsets"),
             nb::arg("counts"), nb::arg("first"),
             "Add pretokens counted elsewhere: counts are summed, first positions minimized.")
        .def("finish", &finish, nb::arg("language"), nb::arg("keep") = true,
             nb::arg("others") = std::vector<GuardedCounter*>(), nb::arg("threads") = 1,
             "Return a table as (data uint8, offsets int64 (n + 1,), counts uint64 (n,), first\n"
             "uint64 (n,)), by count descending, then first position; with those of other\n"
             "counters added. Without `keep` the tables are emptied, which needs less memory.")
        .def(
            "expect",
            [](GuardedCounter& guarded, std::size_t text_bytes) {
                const Use use(guarded);
                guarded.counter.expect(text_bytes);
            },
            nb::arg("text_bytes"),
            "Say how much text add() is going to be given, about; tables then grow to fit it.")
        .def("merge", &merge, nb::arg("other"), "Add everything that another counter holds.")
        .def("part", &part, nb::arg("language"), nb::arg("index"),
             "Return one of count_parts parts of a table, as finish does but in no order; a\n"
             "pretoken is in the same part of every table.")
        .def("clear", &clear, "Forget what was counted, and free its memory.")
        .def_prop_ro(
            "languages", [](const GuardedCounter& guarded) { return guarded.counter.languages(); },
            "The number of tables.")
        .def(
            "pretokens",
            [](const GuardedCounter& guarded, std::int32_t language) {
                check_table(language);
                return guarded.counter.pretokens(language);
            },
            nb::arg("language"),
            "Return the pretokens of a language found in documents, repetitions included; clear()\n"
            "leaves it.")
        .def_prop_ro(
            "memory_bytes",
            [](const GuardedCounter& guarded) { return guarded.counter.memory_bytes(); },
            "Bytes that the tables hold.");
    module.attr("count_parts") = 1U << PretokenTable::part_bits;
    module.def("find_pretokens", &find_pretokens, nb::arg("data"), nb::arg("offsets"),
               nb::arg("wanted_data"), nb::arg("wanted_offsets"),
               "Return the rows, int64 (wanted,), at which wanted pretokens stand among distinct\n"
               "ones, -1 where they do not.");
}

} // namespace jogak::bindings
