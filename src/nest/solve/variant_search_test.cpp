#include "nest/solve/variant_search.hpp"
