#include "bindings.hpp"
#include "jogak/transcode.hpp"

#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <optional>

namespace jogak::bindings {

namespace {

using Joined = std::pair<Output<std::uint8_t>, Output<std::int64_t>>;

/// Calls with the code points of a str, as it keeps them.
template <typename Call> auto with_units(PyObject* text, Call&& call) {
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
    const void* data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return call(std::span{static_cast<const std::uint8_t*>(data), size});
    case PyUnicode_2BYTE_KIND:
        return call(std::span{static_cast<const std::uint16_t*>(data), size});
    default:
        return call(std::span{static_cast<const std::uint32_t*>(data), size});
    }
}

/// The most bytes that a list of str takes, or nothing where one is no str.
std::optional<std::size_t> most_bytes(const nb::list& texts) {
    std::size_t most = utf8_slack;
    for (const nb::handle text : texts) {
        if (!PyUnicode_Check(text.ptr())) {
            return std::nullopt;
        }
        const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr()));
        most += PyUnicode_IS_ASCII(text.ptr())
                    ? size
                    : with_units(text.ptr(), []<typename Unit>(std::span<const Unit> units) {
                          return most_utf8<Unit> * units.size();
                      });
    }
    return most;
}

/// Writes one str; nullptr where it holds what has no UTF-8.
std::uint8_t* write(PyObject* text, std::uint8_t* out) {
    if (!PyUnicode_IS_ASCII(text)) {
        return with_units(text, [&](auto units) { return write_utf8(units, out); });
    }
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
    std::memcpy(out, PyUnicode_DATA(text), size);
    return out + size;
}

std::optional<Joined> join(const nb::typed<nb::list, nb::any>& texts) {
    const std::optional<std::size_t> most = most_bytes(texts);
    if (!most.has_value()) {
        return std::nullopt;
    }
    // Not a vector: it would be written twice, and what is left over never.
    auto data = std::make_unique_for_overwrite<std::uint8_t[]>(*most);
    std::vector<std::int64_t> offsets(1);
    offsets.reserve(texts.size() + 1);
    std::uint8_t* out = data.get();
    for (const nb::handle text : texts) {
        out = write(text.ptr(), out);
        if (out == nullptr) {
            return std::nullopt;
        }
        offsets.push_back(out - data.get());
    }
    const std::size_t size = static_cast<std::size_t>(offsets.back());
    std::uint8_t* bytes = data.get();
    const nb::capsule owner(data.release(),
                            [](void* held) noexcept { delete[] static_cast<std::uint8_t*>(held); });
    return Joined{Output<std::uint8_t>(bytes, {size}, owner), to_numpy(std::move(offsets))};
}

} // namespace

void bind_transcode(nb::module_& module) {
    module.def("join_texts", &join, nb::arg("texts"),
               "Join a list of str: the UTF-8 of all, uint8 (n,), and its offsets, int64\n"
               "(texts + 1,). None where one is no str, or holds a surrogate.");
}

} // namespace jogak::bindings
