#include "bindings.hpp"

#include "jogak/encode.hpp"

namespace jogak::bindings {

void bind_encode(nb::module_&) {}

} // namespace jogak::bindings
