#include "bindings.hpp"

#include "jogak/normalize.hpp"

namespace jogak::bindings {

void bind_normalize(nb::module_&) {}

} // namespace jogak::bindings
