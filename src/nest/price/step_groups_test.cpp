#include "nest/price/step_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest::price {
namespace {

using Group = StepCollective::Group;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::vector<int>> ids(const Plan& plan, std::size_t stage, Group group) {
  std::vector<std::vector<int>> out;
  for (const auto& g : step_groups(plan, stage, group)) {
    out.emplace_back();
    for (const DeviceId d : g) out.back().push_back(d.value);
  }
  return out;
}

// Cells of `width` tensor ranks, copy after copy.
Plan placed(std::int32_t stages, std::int32_t copies, std::int32_t width) {
  Plan plan;
  plan.stages.resize(static_cast<std::size_t>(stages));
  std::int32_t next = 0;
  for (std::int32_t c = 0; c < copies; ++c) {
    for (Stage& stage : plan.stages) {
      stage.strategy.tensor = width;
      Cell& cell = stage.devices.emplace_back();
      for (std::int32_t j = 0; j < width; ++j) cell.emplace_back(next++);
    }
  }
  return plan;
}

// Two stages of two copies, tensor 2: stage 0 has devices 0, 1 and 4, 5.
Plan dense_plan() {
  return placed(2, 2, 2);
}

TEST(StepGroups, DenseRanksShareATensorRank) {
  EXPECT_THAT(ids(dense_plan(), 0, Group::dense), ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5)));
  EXPECT_THAT(ids(dense_plan(), 1, Group::dense), ElementsAre(ElementsAre(2, 6), ElementsAre(3, 7)));
}

TEST(StepGroups, TensorGroupsAndEnds) {
  EXPECT_THAT(ids(dense_plan(), 0, Group::replicated), ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5)));
  EXPECT_THAT(ids(dense_plan(), 0, Group::tied),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(StepGroups, ZeroShardsCutGroupsIntoRuns) {
  Plan plan = placed(1, 4, 1);
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = 2;
  EXPECT_THAT(ids(plan, 0, Group::dense_inner), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense_outer), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  plan.parallelism.zero_shards = 0;
  EXPECT_THAT(ids(plan, 0, Group::dense_inner), ElementsAre(ElementsAre(0, 1, 2, 3)));
  plan.parallelism.zero = {3, {Resharding::Kind::group, 2}};
  EXPECT_THAT(ids(plan, 0, Group::dense_near), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense_outer), IsEmpty());
}

// Tensor 1, expert 2, expert tensor 1 in a cell of 4: id j is expert (j % 2) of the rest j / 2.
TEST(StepGroups, ExpertRanksShareAnExpert) {
  Plan plan = placed(1, 1, 4);
  plan.stages[0].strategy = {.tensor = 1, .expert = 2, .expert_tensor = 1};
  EXPECT_THAT(ids(plan, 0, Group::expert), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

}  // namespace
}  // namespace nest::price
