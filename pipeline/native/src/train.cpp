#include "jogak/train.hpp"
