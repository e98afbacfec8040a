#include "nest/estimate/collectives/token_exchange.hpp"

#include <gtest/gtest.h>
