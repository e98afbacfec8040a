#include "nest/solve/baselines/common/given_degrees.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/solve/baselines/common/test_questions.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

TEST(GivenDegrees, HaveTheBestStageBoundaries) {
  const PlanQuestion question = test::chain_question({.layers = 7});
  PlanQuestion pinned = question;
  pinned.space.pipeline = Choice(2);
  pinned.space.data = Choice(4);
  pinned.space.schedules = {Schedule::one_f_one_b};
  pinned.space.zero = *read_choice("0");
  pinned.space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  const SearchResult best = ask(pinned);
  const BaselineResult given = find_given_degrees(question, {.pipeline = 2, .data = 4, .tensor = 1});
  ASSERT_EQ(given.status, PlanStatus::feasible) << given.reason;
  EXPECT_EQ(given.plan->predicted->step, best.plans.front().predicted->step);
  EXPECT_EQ(*given.believed, given.plan->predicted->step);
  EXPECT_TRUE(given.notes.empty());
  EXPECT_TRUE(given.reason.empty());
}

TEST(GivenDegrees, RaiseABatchThatTheCopiesDoNotDivide) {
  const PlanQuestion question = test::chain_question({});
  const BaselineResult given = find_given_degrees(question, {.pipeline = 2, .data = 3, .tensor = 1});
  ASSERT_EQ(given.status, PlanStatus::feasible) << given.reason;
  EXPECT_EQ(given.plan->training.global_batch, 33);
  EXPECT_EQ(given.notes,
            std::vector<std::string>{"the global batch is 33 in place of 32, which 3 copies do not divide"});
}

TEST(GivenDegrees, UseZeroOnlyWhereNothingFitsWithout) {
  const std::string config = test::llama_config(16, 8, 4);
  const GivenDegrees degrees{.pipeline = 1, .data = 8, .tensor = 1};
  const BaselineResult plenty = find_given_degrees(test::config_question(config, {}), degrees);
  ASSERT_EQ(plenty.status, PlanStatus::feasible) << plenty.reason;
  EXPECT_EQ(plenty.plan->parallelism.zero.number(), 0);
  double most = 0;
  for (const Stage& stage : plenty.plan->stages)
    most = std::max(most, static_cast<double>(stage.memory->total().value));
  const BaselineResult little =
      find_given_degrees(test::config_question(config, {.memory = 0.7 * most}), degrees);
  ASSERT_EQ(little.status, PlanStatus::feasible) << little.reason;
  EXPECT_GT(little.plan->parallelism.zero.number(), 0);
}

// Data counts copies of the pipeline: cells of 4 devices run 4 micro-batches side by side.
TEST(GivenDegrees, CountCopiesOfCellsWithExperts) {
  const std::string config = R"({"model_type": "mixtral", "vocab_size": 32768, "hidden_size": 1024,
    "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8,
    "num_local_experts": 4, "num_experts_per_tok": 2, "max_position_embeddings": 4096})";
  PlanQuestion question = test::config_question(config, {});
  question.space.expert = Choice(4);
  const BaselineResult given = find_given_degrees(question, {.pipeline = 2, .data = 1, .tensor = 1});
  ASSERT_EQ(given.status, PlanStatus::feasible) << given.reason;
  EXPECT_EQ(given.plan->parallelism.copies(), 1);
  EXPECT_EQ(given.plan->parallelism.data, 4);
  EXPECT_EQ(given.plan->parallelism.devices(), 8);
}

TEST(GivenDegrees, SayWhatTheQuestionRulesOut) {
  PlanQuestion question = test::chain_question({});
  question.space.pipeline = *read_choice("1..4");
  const BaselineResult deep = find_given_degrees(question, {.pipeline = 8, .data = 1, .tensor = 1});
  EXPECT_EQ(deep.status, PlanStatus::infeasible);
  EXPECT_EQ(deep.reason, "the question allows pipeline 1..4 only");
  question.space.data = Choice(2);
  EXPECT_EQ(find_given_degrees(question, {.pipeline = 2, .data = 4, .tensor = 1}).reason,
            "the question allows data 2 only");
  const BaselineResult wide = find_given_degrees(question, {.pipeline = 1, .data = 2, .tensor = 2});
  EXPECT_EQ(wide.reason, "no strategy with tensor 2 fits the devices");
  const BaselineResult large = find_given_degrees(test::chain_question({}), {.pipeline = 8, .data = 4});
  EXPECT_EQ(large.status, PlanStatus::infeasible);
  EXPECT_FALSE(large.reason.empty());
}

TEST(GivenDegrees, AreNeverBetterThanTheSearch) {
  for (unsigned seed = 1; seed <= 150; seed += test::stride()) {
    test::Instance made = test::random_instance(seed, 300);
    made.options.objective = Objective::step_time;
    const PlanQuestion question{std::move(made.inputs), made.training, made.space, made.options};
    const SearchResult ours = ask(question);
    for (const GivenDegrees& degrees :
         {GivenDegrees{1, 1, 1}, GivenDegrees{2, 2, 1}, GivenDegrees{3, 1, 2}}) {
      const BaselineResult given = find_given_degrees(question, degrees);
      if (given.status != PlanStatus::feasible || !given.notes.empty()) continue;
      ASSERT_EQ(ours.status, PlanStatus::optimal) << made.text;
      ASSERT_GE(given.plan->predicted->step.value, ours.plans.front().predicted->step.value * (1 - 1e-9))
          << made.text;
    }
  }
}

}  // namespace
}  // namespace nest::solve
