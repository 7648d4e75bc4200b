#include "bindings.hpp"
#include "jogak/train.hpp"

namespace jogak::bindings {

void bind_train(nb::module_&) {}

} // namespace jogak::bindings
