#include "nest/simulate/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"

namespace nest {
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

// Two stages of two copies, tensor 2, copy after copy: stage 0 has devices 0, 1 and 4, 5.
Plan dense_plan() {
  return test_plans::placed(2, 2, 2, test_plans::Order::copies);
}

TEST(Groups, DenseRanksShareATensorRank) {
  EXPECT_THAT(ids(dense_plan(), 0, Group::dense), ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5)));
  EXPECT_THAT(ids(dense_plan(), 1, Group::dense), ElementsAre(ElementsAre(2, 6), ElementsAre(3, 7)));
}

TEST(Groups, TensorGroupsAndEnds) {
  EXPECT_THAT(ids(dense_plan(), 0, Group::replicated), ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5)));
  EXPECT_THAT(ids(dense_plan(), 0, Group::tied),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(Groups, ZeroShardsCutGroupsIntoRuns) {
  Plan plan = test_plans::placed(1, 4, 1, test_plans::Order::copies);
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = 2;
  EXPECT_THAT(ids(plan, 0, Group::dense_inner), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense_outer), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  plan.parallelism.zero_shards = 0;
  EXPECT_THAT(ids(plan, 0, Group::dense_inner), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense_outer), IsEmpty());
}

// Tensor 1, expert 2, expert tensor 1 in a cell of 4: id j is expert (j % 2) of the rest j / 2.
TEST(Groups, ExpertRanksShareAnExpert) {
  Plan plan = test_plans::placed(1, 1, 4, test_plans::Order::copies);
  plan.stages[0].strategy = {.tensor = 1, .expert = 2, .expert_tensor = 1};
  EXPECT_THAT(ids(plan, 0, Group::expert), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(ids(plan, 0, Group::dense), ElementsAre(ElementsAre(0, 1, 2, 3)));
}

}  // namespace
}  // namespace nest
