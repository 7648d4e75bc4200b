// What every binding file shares: array types, conversions, and the list of binders.
#pragma once

#include "jogak/id_buffer.hpp"
#include "jogak/text.hpp"

#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace jogak::bindings {

template <typename T>
using Input = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// Hands a vector over to numpy without a copy; the array's capsule frees it.
template <typename T, typename Allocator>
[[nodiscard]] Output<T> to_numpy(std::vector<T, Allocator>&& values) {
    using Values = std::vector<T, Allocator>;
    auto owner = std::make_unique<Values>(std::move(values));
    T* data = owner->data();
    const std::size_t size = owner->size();
    nb::capsule capsule(owner.release(),
                        [](void* held) noexcept { delete static_cast<Values*>(held); });
    return Output<T>(data, {size}, capsule);
}

/// The same for ids.
[[nodiscard]] inline Output<TokenId> ids_to_numpy(IdBuffer&& ids) {
    auto owner = std::make_unique<IdBuffer>(std::move(ids));
    TokenId* data = owner->data();
    const std::size_t size = owner->size();
    nb::capsule capsule(owner.release(),
                        [](void* held) noexcept { delete static_cast<IdBuffer*>(held); });
    return Output<TokenId>(data, {size}, capsule);
}

/// Checks that the offsets are ascending and stay inside the data, then views both.
[[nodiscard]] inline Documents to_documents(const Input<std::uint8_t>& data,
                                            const Input<std::int64_t>& offsets) {
    const std::span<const std::int64_t> view{offsets.data(), offsets.size()};
    if (view.empty()) {
        throw std::invalid_argument("offsets must have one entry more than there are documents, "
                                    "but is empty");
    }
    std::int64_t previous = 0;
    for (const std::int64_t offset : view) {
        if (offset < previous) {
            throw std::invalid_argument("offsets must ascend from 0 or more, but " +
                                        std::to_string(offset) + " follows " +
                                        std::to_string(previous));
        }
        previous = offset;
    }
    if (static_cast<std::size_t>(previous) > data.size()) {
        throw std::invalid_argument("offsets end at " + std::to_string(previous) +
                                    " but data has " + std::to_string(data.size()) + " bytes");
    }
    return {{data.data(), data.size()}, view};
}

void bind_normalize(nb::module_& module);
void bind_pretokenize(nb::module_& module);
void bind_count(nb::module_& module);
void bind_train(nb::module_& module);
void bind_encode(nb::module_& module);
void bind_encode_characters(nb::module_& module);
void bind_charsmap(nb::module_& module);
void bind_match(nb::module_& module);
void bind_merge_list(nb::module_& module);
void bind_measure(nb::module_& module);
void bind_transcode(nb::module_& module);

} // namespace jogak::bindings
