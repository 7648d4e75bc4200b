// normalize: the contract of src/normalize.cpp.
#pragma once

#include "jogak/text.hpp"

namespace jogak {} // namespace jogak
