#include "nest/api/nest.hpp"

#include <gtest/gtest.h>

namespace nest {
namespace {

TEST(Api, OpensTheDefaults) {
  Warnings warnings;
  EXPECT_EQ(open_model("llama3.1-70b", {}, warnings).parameters(), 70'553'706'496);
  EXPECT_EQ(load_cluster("h100-spine-leaf").devices(), 1024);
  EXPECT_EQ(load_recipe("megatron").framework, "megatron");
  EXPECT_TRUE(warnings.empty());
}

TEST(Api, HasAVersion) {
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace nest
