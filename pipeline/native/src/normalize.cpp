#include "jogak/normalize.hpp"
