#include "nest/solve/baselines/mcmc/mcmc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "nest/cluster/resize.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

PlanQuestion question_of(const char* model, std::int64_t devices, std::int64_t global_batch) {
  Warnings warnings;
  PlanQuestion question{load_inputs(model, "h100-spine-leaf", "megatron", warnings), {}, {}, {}};
  question.inputs.cluster = with_devices(question.inputs.cluster, devices);
  question.training.global_batch = global_batch;
  question.training.sequence = question.inputs.default_sequence();
  question.options.threads = 1;
  return question;
}

PlanQuestion llama() {
  return question_of("llama3.1-8b", 64, 256);
}

PlanQuestion example() {
  return {test::example_inputs(), {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd}, {}, {}};
}

void set_memory(PlanQuestion& question, Bytes memory) {
  ClusterParts parts = question.inputs.cluster.parts();
  parts.accelerator.memory = memory;
  question.inputs.cluster = Cluster(std::move(parts));
}

// All of a result but what the clock says.
std::string text_of(const BaselineResult& result) {
  std::string text = result.reason + std::to_string(result.evaluations);
  for (const BestSoFar& b : result.curve)
    text += " " + std::to_string(b.evaluations) + ":" + std::to_string(b.step.value);
  for (const std::string& note : result.notes) text += "\n" + note;
  if (result.plan) {
    text += "\n" + std::to_string(result.plan->parallelism.data);
    for (const Stage& stage : result.plan->stages) text += " " + std::to_string(stage.layers.size());
  }
  return text;
}

void expect_sound(const BaselineResult& result, const PlanQuestion& question) {
  ASSERT_EQ(result.status, PlanStatus::feasible) << result.reason;
  ASSERT_TRUE(result.plan && result.plan->predicted);
  EXPECT_EQ(verify_plan(*result.plan, question.inputs, question.options.price_options()), std::nullopt);
  ASSERT_FALSE(result.curve.empty());
  for (std::size_t i = 1; i < result.curve.size(); ++i) {
    EXPECT_LT(result.curve[i].step, result.curve[i - 1].step);
    EXPECT_GT(result.curve[i].evaluations, result.curve[i - 1].evaluations);
    EXPECT_GE(result.curve[i].elapsed, result.curve[i - 1].elapsed);
  }
  EXPECT_LE(result.curve.back().evaluations, result.evaluations);
  const double step = result.plan->predicted->step.value;
  EXPECT_NEAR(result.curve.back().step.value, step, kPriceTolerance * step);
}

TEST(Mcmc, FindsTheBestOfTheExample) {
  PlanQuestion question = example();
  question.space.recompute = {{RecomputePolicy::none, 0}};
  question.space.zero = Choice(0);
  const BaselineResult found = find_mcmc(question, {.evaluations = 2'000});
  expect_sound(found, question);
  EXPECT_NEAR(found.plan->predicted->step.value, 54.002e-3, 1e-12);  // as the search does
}

TEST(Mcmc, IsTheSameForASeed) {
  const PlanQuestion question = llama();
  const BaselineResult a = find_mcmc(question, {.seed = 3, .evaluations = 1'000});
  expect_sound(a, question);
  EXPECT_EQ(text_of(a), text_of(find_mcmc(question, {.seed = 3, .evaluations = 1'000})));
  EXPECT_NE(text_of(a), text_of(find_mcmc(question, {.seed = 4, .evaluations = 1'000})));
}

TEST(Mcmc, KeepsToItsBudget) {
  const PlanQuestion question = llama();
  for (const std::int64_t budget : {1, 2, 100, 1'000})
    EXPECT_EQ(find_mcmc(question, {.evaluations = budget}).evaluations, budget);
  const BaselineResult none = find_mcmc(question, {.evaluations = 0});
  EXPECT_EQ(none.status, PlanStatus::infeasible);
  EXPECT_EQ(none.reason, "its budget leaves no time for a single plan");
}

TEST(Mcmc, KeepsToItsSeconds) {
  PlanQuestion question = llama();
  const std::string said = "a time limit ended it, so that the result depends on the machine";
  const BaselineResult own = find_mcmc(question, {.evaluations = 1'000'000'000, .time_limit = Seconds{0.1}});
  expect_sound(own, question);
  EXPECT_LT(own.evaluations, 1'000'000'000);
  EXPECT_EQ(own.notes.back(), said);
  question.options.deadline = Deadline(Seconds{0.05});
  const BaselineResult asked =
      find_mcmc(question, {.evaluations = 1'000'000'000, .time_limit = Seconds{1'000}});
  expect_sound(asked, question);
  EXPECT_EQ(asked.notes.back(), said);
  question.options.deadline = Deadline(Seconds{0});
  EXPECT_EQ(find_mcmc(question, {}).status, PlanStatus::limit);
}

TEST(Mcmc, GetsCloserWithItsBudget) {
  PlanQuestion question = question_of("mixtral-8x7b", 64, 256);
  question.space.schedules = {Schedule::one_f_one_b};
  question.space.same_recompute = true;
  const double best = ask(question).plans.at(0).predicted->step.value;
  constexpr unsigned kSeeds = 5;
  double before = 1e9;
  for (const std::int64_t budget : {100, 1'000, 10'000}) {
    double sum = 0;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      const BaselineResult found = find_mcmc(question, {.seed = seed, .evaluations = budget});
      expect_sound(found, question);
      sum += found.plan->predicted->step.value;
    }
    EXPECT_LT(sum / kSeeds, before) << budget;
    EXPECT_GE(sum / kSeeds, best * (1 - kPriceTolerance));
    before = sum / kSeeds;
  }
  EXPECT_LT(before, 1.1 * best);
}

TEST(Mcmc, NeverBeatsAProvedOptimum) {
  int reached = 0;
  int compared = 0;
  for (unsigned seed = 1; seed <= 300; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, seed % 4 == 0 ? 300 : 60);
    PlanQuestion question{instance.inputs, instance.training, instance.space, instance.options};
    question.options.objective = Objective::step_time;
    const SearchResult all = ask(question);
    const BaselineResult found = find_mcmc(question, {.seed = seed, .evaluations = 300});
    if (found.status != PlanStatus::feasible) {
      EXPECT_FALSE(found.reason.empty()) << instance.text;
      continue;
    }
    expect_sound(found, question);
    ASSERT_EQ(all.status, PlanStatus::optimal) << instance.text;
    const double best = all.plans.front().predicted->step.value;
    const double step = found.plan->predicted->step.value;
    ASSERT_GE(step, best * (1 - kPriceTolerance)) << instance.text;
    ++compared;
    if (step <= best * (1 + kPriceTolerance)) ++reached;
  }
  EXPECT_GT(test::often(compared), 150);
  EXPECT_GT(reached, compared / 2);  // small spaces hide little
}

TEST(Mcmc, LeavesAStartThatDoesNotFit) {
  const PlanQuestion question = question_of("llama3.1-70b", 64, 256);
  const BaselineResult found = find_mcmc(question, {.evaluations = 2'000});
  expect_sound(found, question);
  EXPECT_EQ(found.notes.front(), "it starts from 64 copies of 1 stage, 1 device a cell, which does not fit");
}

TEST(Mcmc, PlansASingleDevice) {
  const PlanQuestion question = question_of("gpt2", 1, 8);
  const BaselineResult found = find_mcmc(question, {.evaluations = 200});
  expect_sound(found, question);
  EXPECT_EQ(found.plan->parallelism.devices(), 1);
}

TEST(Mcmc, SaysHowFarTheClosestPlanIsOver) {
  const PlanQuestion question = question_of("llama3.1-70b", 8, 64);
  const BaselineResult found = find_mcmc(question, {.evaluations = 500});
  EXPECT_EQ(found.status, PlanStatus::infeasible);
  EXPECT_TRUE(found.reason.starts_with("none of 500 plans fits; the closest is ")) << found.reason;
  EXPECT_TRUE(found.reason.ends_with(" over")) << found.reason;
  ASSERT_TRUE(found.plan && found.plan->placed());
  EXPECT_TRUE(found.curve.empty());
  // One byte is never enough, however long it looks.
  PlanQuestion tiny = example();
  set_memory(tiny, Bytes{1});
  EXPECT_EQ(find_mcmc(tiny, {}).status, PlanStatus::infeasible);
}

TEST(Mcmc, HonoursWhatIsPinned) {
  PlanQuestion question = llama();
  question.space.tensor = Choice(4);
  question.space.pipeline = Choice(2);
  question.space.zero = Choice(1);
  question.space.data_inner = Choice(2);
  question.space.first_stage_first = {true};
  question.space.schedules = {Schedule::interleaved, Schedule::zb_h1};
  question.space.recompute = {{RecomputePolicy::full, 3}};
  const BaselineResult found = find_mcmc(question, {.evaluations = 500});
  expect_sound(found, question);
  const Parallelism& p = found.plan->parallelism;
  EXPECT_EQ(p.strategy.tensor, 4);
  EXPECT_EQ(p.pipeline, 2);
  EXPECT_EQ(p.zero.number(), 1);
  EXPECT_EQ(p.data_inner, 2);
  EXPECT_TRUE(p.first_stage_first);
  EXPECT_EQ(p.schedule, Schedule::zb_h1);
  for (const Stage& stage : found.plan->stages)
    EXPECT_EQ(stage.recompute, (Recompute{RecomputePolicy::full, 3}));
}

TEST(Mcmc, SaysWhatItHasNone) {
  PlanQuestion question = llama();
  question.space.schedules = {Schedule::interleaved};
  EXPECT_EQ(find_mcmc(question, {}).reason,
            "it has no interleaved schedules, and the question leaves no other");
  question.space.schedules.clear();
  question.space.data = Choice(3);
  EXPECT_EQ(find_mcmc(question, {}).reason, "there is no plan that the question allows");
  question = llama();
  question.training.sequence = 1'000'000'000;
  EXPECT_FALSE(find_mcmc(question, {.evaluations = 10}).reason.empty());
  question = llama();
  question.options.objective = Objective::devices;
  question.options.target_tokens_per_s = 1;
  EXPECT_EQ(find_mcmc(question, {.evaluations = 10}).notes.back(),
            "it looks for the fastest plan, whatever the objective");
}

TEST(Mcmc, PlansModelsThatBranch) {
  for (const char* model : {"t5-11b", "clip-vit-large-patch14"}) {
    PlanQuestion question = question_of(model, 32, 128);
    question.space.pipeline = *read_choice("2..8");
    const BaselineResult found = find_mcmc(question, {.evaluations = 2'000});
    expect_sound(found, question);
    EXPECT_GT(found.plan->stages.size(), 1U) << model;
  }
}

TEST(Mcmc, KeepsToTheRulesOfAFramework) {
  for (const FrameworkRules& rules : all_framework_rules()) {
    PlanQuestion question = question_of("mixtral-8x7b", 64, 256);
    question.space.rules = &rules;
    const BaselineResult found = find_mcmc(question, {.evaluations = 3'000});
    expect_sound(found, question);
    EXPECT_EQ(rules.broken({found.plan->training, found.plan->parallelism}), nullptr) << rules.name;
  }
}

}  // namespace
}  // namespace nest::solve
