// count: the contract of src/count.cpp.
#pragma once

#include "jogak/text.hpp"

namespace jogak {} // namespace jogak
