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

TEST(Api, Plans) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings);
  SearchSpace space;
  space.pipeline = Choice(1);
  space.tensor = Choice(1);
  const SearchResult found = search(inputs, {.global_batch = 64, .sequence = 1024}, space);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().parallelism.pipeline, 1);
  EXPECT_EQ(Pricer(inputs).price(found.plans.front()).status, PriceStatus::feasible);
}

TEST(Api, HasAVersion) {
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace nest
