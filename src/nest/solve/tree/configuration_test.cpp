#include "nest/solve/tree/configuration.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace nest::solve {
namespace {

Plan two_stages() {
  Plan plan;
  plan.parallelism.strategy = {.tensor = 2, .sequence_parallel = true};
  plan.parallelism.pipeline = 2;
  plan.parallelism.data = 4;
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = 4;
  plan.stages.resize(2);
  for (Stage& stage : plan.stages) stage.layers.resize(3);
  return plan;
}

struct Change {
  const char* name;
  std::function<void(Plan&)> make;
};

const std::vector<Change> kDegrees{
    {"micro-batch", [](Plan& p) { p.training.micro_batch = 2; }},
    {"tensor", [](Plan& p) { p.parallelism.strategy.tensor = 4; }},
    {"sequence parallel", [](Plan& p) { p.parallelism.strategy.sequence_parallel = false; }},
    {"context", [](Plan& p) { p.parallelism.strategy.context = 2; }},
    {"expert", [](Plan& p) { p.parallelism.strategy.expert = 2; }},
    {"expert tensor", [](Plan& p) { p.parallelism.strategy.expert_tensor = 1; }},
    {"pipeline", [](Plan& p) { p.parallelism.pipeline = 3; }},
    {"data", [](Plan& p) { p.parallelism.data = 8; }},
    {"zero", [](Plan& p) { p.parallelism.zero = 3; }},
    {"reshard", [](Plan& p) { p.parallelism.zero = {3, {Resharding::Kind::never, 0}}; }},
    {"interleave", [](Plan& p) { p.parallelism.interleave = 2; }},
    {"schedule", [](Plan& p) { p.parallelism.schedule = Schedule::gpipe; }},
};

const std::vector<Change> kVariants{
    {"zero_shards", [](Plan& p) { p.parallelism.zero_shards = 2; }},
    {"data_inner", [](Plan& p) { p.parallelism.data_inner = 2; }},
    {"block_devices", [](Plan& p) { p.parallelism.block_devices = 16; }},
    {"first_stage_first", [](Plan& p) { p.parallelism.first_stage_first = true; }},
    {"layers", [](Plan& p) { p.stages[0].layers.resize(2); }},
    {"recompute", [](Plan& p) { p.stages[1].recompute.policy = RecomputePolicy::full; }},
    {"recompute on layers", [](Plan& p) { p.stages[1].recompute.layers = 1; }},
};

TEST(Configuration, DegreesMakeAnotherPlan) {
  const Plan plan = two_stages();
  for (const Change& change : kDegrees) {
    Plan other = plan;
    change.make(other);
    EXPECT_NE(degree_key(other), degree_key(plan)) << change.name;
    EXPECT_NE(tie_key(other), tie_key(plan)) << change.name;
  }
}

TEST(Configuration, OtherChoicesMakeAVariant) {
  const Plan plan = two_stages();
  for (const Change& change : kVariants) {
    Plan other = plan;
    change.make(other);
    EXPECT_EQ(degree_key(other), degree_key(plan)) << change.name;
    EXPECT_NE(tie_key(other), tie_key(plan)) << change.name;
  }
}

// What a strategy leaves out is what it says: expert tensor as tensor, no sequence to shard, no context.
TEST(Configuration, WordsForTheSameDegreesAreTheSame) {
  const Plan plan = two_stages();
  Plan said = plan;
  said.parallelism.strategy.expert_tensor = 2;
  said.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(degree_key(said), degree_key(plan));
  Plan one = plan;
  one.parallelism.strategy = {.tensor = 1};
  said.parallelism.strategy = {.tensor = 1, .sequence_parallel = true, .expert_tensor = 1};
  EXPECT_EQ(degree_key(said), degree_key(one));
  one.parallelism.strategy.context = said.parallelism.strategy.context = 2;
  said.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_NE(degree_key(said), degree_key(one));
}

// Degrees come first: of two plans, the one with the smaller degrees comes first whatever else they say.
TEST(Configuration, TheOrderOfTiesIsTheOrderOfDegrees) {
  Plan small = two_stages();
  Plan large = two_stages();
  large.parallelism.strategy.tensor = 4;
  small.parallelism.first_stage_first = true;
  small.parallelism.block_devices = 64;
  EXPECT_LT(tie_key(small), tie_key(large));
}

}  // namespace
}  // namespace nest::solve
