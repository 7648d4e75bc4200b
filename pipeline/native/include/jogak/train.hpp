// train: the contract of src/train.cpp.
#pragma once

#include "jogak/text.hpp"

namespace jogak {} // namespace jogak
