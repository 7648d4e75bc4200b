#include "bindings.hpp"
#include "jogak/count.hpp"

namespace jogak::bindings {

void bind_count(nb::module_&) {}

} // namespace jogak::bindings
