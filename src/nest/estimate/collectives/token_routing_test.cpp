#include "nest/estimate/collectives/token_routing.hpp"

#include <gtest/gtest.h>
