#include "jogak/encode.hpp"
