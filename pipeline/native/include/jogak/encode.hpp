// encode: the contract of src/encode.cpp.
#pragma once

#include "jogak/text.hpp"

namespace jogak {} // namespace jogak
