#include "nest/frameworks/chakra/chakra_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace nest::frameworks {
namespace {

using testing::Each;
using testing::ElementsAre;

// Two stages of two copies, tensor 2, copy after copy: stage 0 has devices 0, 1 and 4, 5.
Plan small_plan() {
  Plan plan;
  plan.stages.resize(2);
  std::int32_t next = 0;
  for (int copy = 0; copy < 2; ++copy) {
    for (Stage& stage : plan.stages) {
      stage.strategy.tensor = 2;
      stage.devices.push_back({DeviceId{next}, DeviceId{next + 1}});
      next += 2;
    }
  }
  return plan;
}

std::vector<std::int32_t> same_places(std::int32_t devices) {
  std::vector<std::int32_t> npus(static_cast<std::size_t>(devices));
  std::iota(npus.begin(), npus.end(), 0);
  return npus;
}

TEST(ChakraGroups, EveryGroupHasOneNumber) {
  const Plan plan = small_plan();
  ChakraGroups groups(plan, same_places(8), 8, {0, 1});
  EXPECT_THAT(groups.of(0, {.inner = 1, .members = 2}), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(groups.of(0, {.step = StepCollective::Group::dense}), ElementsAre(3, 4, 3, 4));
  EXPECT_THAT(groups.of(1, {.inner = 1, .members = 2}), ElementsAre(5, 5, 6, 6));
  // The tensor group again, by another name.
  EXPECT_THAT(groups.of(0, {.step = StepCollective::Group::replicated}), ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(groups.members(0, {.step = StepCollective::Group::dense}), 2);
  EXPECT_EQ(groups.size(), 6U);
  EXPECT_EQ(groups.text(),
            "{\n\"1\":[0,1],\n\"2\":[4,5],\n\"3\":[0,4],\n\"4\":[1,5],\n\"5\":[2,3],\n\"6\":[6,7]\n}\n");
}

TEST(ChakraGroups, TiedWeightsJoinStages) {
  const Plan plan = small_plan();
  ChakraGroups groups(plan, same_places(8), 8, {0, 1});
  const ChakraRole tied{.step = StepCollective::Group::tied};
  EXPECT_THAT(groups.of(0, tied), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(groups.of(0, tied), groups.of(1, tied));
  EXPECT_TRUE(groups.text().starts_with("{\n\"1\":[0,2],\n\"2\":[1,3]")) << groups.text();
}

TEST(ChakraGroups, NobodyElseIsNoGroupAndAllAreNumberZero) {
  Plan plan = small_plan();
  plan.stages.resize(1);
  ChakraGroups groups(plan, {0, 1, -1, -1, 2, 3}, 4, {});
  EXPECT_EQ(groups.members(0, {.inner = 2, .members = 1}), 1);
  plan.stages[0].strategy.tensor = 1;
  EXPECT_THAT(groups.of(0, {.step = StepCollective::Group::dense}), Each(0));
  EXPECT_EQ(groups.members(0, {.step = StepCollective::Group::dense}), 4);
  EXPECT_EQ(groups.text(), "{\n}\n");
}

}  // namespace
}  // namespace nest::frameworks
