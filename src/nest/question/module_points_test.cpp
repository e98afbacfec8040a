#include "nest/question/module_points.hpp"

#include <gtest/gtest.h>

namespace nest::question {
namespace {

TEST(ModulePoints, Placeholder) {}

}  // namespace
}  // namespace nest::question
