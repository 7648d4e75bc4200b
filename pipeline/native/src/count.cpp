#include "jogak/count.hpp"
