#include "nest/report/answer/plan_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;

TEST(PlanNotes, TheFullestStage) {
  const Plan plan = answer_plan({1, 1, 1}, 1, Seconds{1}, Seconds{0});
  EXPECT_EQ(fullest_stage(plan), 2U);
  EXPECT_DOUBLE_EQ(memory_share(plan.stages[2]), 6.0 / 80);
}

TEST(PlanNotes, TheProof) {
  const Plan plan = answer_plan({3}, 8, Seconds{1}, Seconds{0});
  EXPECT_EQ(proof_sentence(answer({plan}), {}), "optimal: no plan of the space takes less than 1 s a step");
  const SearchResult stopped = answer({plan}, PlanStatus::feasible);
  EXPECT_DOUBLE_EQ(*gap_of(stopped), 0.25);
  EXPECT_EQ(proof_sentence(stopped, {}),
            "not proved: no plan takes less than 800 ms a step, a gap of 25.0 %");
  SearchResult unbound = stopped;
  unbound.lower_bound = Seconds{0};
  EXPECT_EQ(proof_sentence(unbound, {}), "not proved: there is no bound yet");
  SearchOptions devices;
  devices.objective = Objective::devices;
  devices.target_tokens_per_s = 4000;
  EXPECT_EQ(proof_sentence(answer({plan}), devices),
            "optimal: no plan with fewer devices reaches 4,000 tokens/s, none with 8 is faster");
}

TEST(PlanNotes, ASimplerPlanInPlaceOfTheBest) {
  SearchResult found = answer({answer_plan({1, 2}, 4, Seconds{0.9}, Seconds{0.1})});
  EXPECT_EQ(simpler_sentence(found), "");
  found.simpler = answer_plan({3}, 8, Seconds{1.003}, Seconds{0});
  found.avoids = {"pipeline parallelism"};
  EXPECT_EQ(simpler_sentence(found),
            "0.3 % longer than the best plan, which is within the noise of prediction, but without pipeline "
            "parallelism (--strict takes the best)");
  // The proof is about the best plan.
  EXPECT_EQ(proof_sentence(found, {}), "optimal: no plan of the space takes less than 1 s a step");
}

TEST(PlanNotes, WhatSafetyCosts) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1.009}, Seconds{0})});
  found.plans.front().predicted->fits_probability = 0.966;
  found.plans.front().predicted->fits_at_least = true;
  SearchOptions asked;
  EXPECT_EQ(safety_sentence(found, asked), "");  // no margin
  asked.memory_margin = 0.07;
  EXPECT_EQ(safety_sentence(found, asked), "");  // nobody has looked
  found.safety.known = true;
  EXPECT_EQ(safety_sentence(found, asked),
            "the margin costs nothing: no plan without it is faster than one for fitting with 97 % or more");
  found.risky = answer_plan({3}, 8, Seconds{1}, Seconds{0});
  found.risky->predicted->fits_probability = 0.51;
  found.safety.costs = 0.009;
  const std::string in_place = " for fitting with 97 % or more in place of 51 %";
  EXPECT_EQ(safety_sentence(found, asked), "the margin costs +0.9 % of the step" + in_place);
  found.safety.known = false;  // there may be faster ones without a margin
  EXPECT_EQ(safety_sentence(found, asked), "the margin costs +0.9 % of the step or more" + in_place);
  found.status = PlanStatus::feasible;  // and with one
  EXPECT_EQ(safety_sentence(found, asked), "the margin costs about +0.9 % of the step" + in_place);
  found.safety.known = true;
  EXPECT_EQ(safety_sentence(found, asked), "the margin costs +0.9 % of the step or less" + in_place);
  asked.objective = Objective::cost;
  EXPECT_EQ(safety_sentence(found, asked),
            "the margin costs +0.9 % of the price of a token or less" + in_place);
}

// Within a gap a search may find nothing faster though there is something: only its bound is certain.
TEST(PlanNotes, WhatSafetyCostsAtMost) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})}, PlanStatus::feasible);
  found.plans.front().predicted->fits_probability = 0.966;
  found.safety.most = 0.043;
  SearchOptions asked;
  asked.memory_margin = 0.07;
  EXPECT_EQ(safety_sentence(found, asked), "");  // a limit came: the bound is far off
  asked.gap = 0.05;
  EXPECT_EQ(safety_sentence(found, asked),
            "the margin costs 4.3 % at most: no plan without it is faster by more than that");
}

TEST(PlanNotes, TheProofOfSeveralBatches) {
  // 4,096 tokens a second.
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  found.batches = BatchesProof{.asked = 61, .bounded = 61, .most_per_s = 8};
  EXPECT_EQ(proof_sentence(found, {}),
            "optimal: no plan of the space, with any of the 61 batches, trains on more than 4,096 tokens/s");
  found.status = PlanStatus::feasible;
  found.batches->most_per_s = 10;
  EXPECT_EQ(
      proof_sentence(found, {}),
      "not proved: no plan with any of the 61 batches trains on more than 5,120 tokens/s, a gap of 25.0 %");
  found.batches->bounded = 3;
  EXPECT_EQ(proof_sentence(found, {}),
            "not proved: a limit came when 3 of 61 batches had been looked at, with which no plan trains on "
            "more than 5,120 tokens/s, a gap of 25.0 %");
  found.batches->bounded = 0;
  EXPECT_EQ(proof_sentence(found, {}), "not proved: there is no bound yet");
}

TEST(PlanNotes, NearTiesAndBatches) {
  const auto plan = [](double step) { return answer_plan({3}, 8, Seconds{step}, Seconds{0}); };
  EXPECT_EQ(ties_sentence(answer({plan(1), plan(1.03)}), 3), "");
  EXPECT_EQ(ties_sentence(answer({plan(1), plan(1.01)}), 3),
            "2 is a near tie: within 2 % of the best plan, which is within the noise of prediction");
  EXPECT_EQ(ties_sentence(answer({plan(1), plan(1.01), plan(1.015), plan(1.02)}), 2),
            "2 and 3 are near ties: within 2 % of the best plan, which is within the noise of prediction");
  SearchResult found = answer({plan(1)});
  EXPECT_EQ(batch_sentence(found), "");
  found.better_batch = plan(1);
  found.better_batch->training.global_batch = 504;
  found.better_batch->predicted->tokens_per_s = 1.13 * found.plans.front().predicted->tokens_per_s;
  EXPECT_EQ(batch_sentence(found), "with 504 sequences: 13.0 % more tokens a second (--global-batch 504)");
}

// The plan that is taken in place of the best one has a row of its own.
TEST(PlanNotes, NoPlanStandsTwice) {
  const auto plan = [](double step) { return answer_plan({3}, 8, Seconds{step}, Seconds{0}); };
  SearchResult found = answer({plan(1), plan(1.004), plan(1.01), plan(1.5)});
  found.simpler = plan(1.004);
  EXPECT_EQ(ties_sentence(found, 3),
            "2 is a near tie: within 2 % of the best plan, which is within the noise of prediction");
}

// One definition, for progress and answers.
TEST(PlanNotes, TheGap) {
  EXPECT_DOUBLE_EQ(*gap_of(Seconds{1.25}, Seconds{1}), 0.25);
  EXPECT_EQ(gap_of(Seconds{1}, Seconds{1.5}), 0.0);  // rounding
  EXPECT_FALSE(gap_of(Seconds{1}, Seconds{0}));
}

TEST(PlanNotes, TheLargestPartOfMemory) {
  const Plan plan = answer_plan({3}, 8, Seconds{1}, Seconds{0});
  EXPECT_EQ(largest_memory(*plan.stages.front().memory), "activations (2.79 GiB)");
}

TEST(PlanNotes, NobodyIsIdle) {
  EXPECT_EQ(idle_sentence(answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})}), test::eight_devices(), {}),
            "");
}

// Three stages of two copies: 6 devices. 8 could work, in 1 stage of 8 copies.
TEST(PlanNotes, IdleBecauseNothingIsFaster) {
  const Plan plan = answer_plan({1, 1, 1}, 2, Seconds{1}, Seconds{0});
  EXPECT_EQ(idle_sentence(answer({plan}), test::eight_devices(), {}),
            "2 of 8 devices are idle: no plan that uses more is faster");
  EXPECT_EQ(idle_sentence(answer({plan}, PlanStatus::feasible), test::eight_devices(), {}),
            "2 of 8 devices are idle: the search has found no faster plan that uses more");
}

// A batch of 7 sequences has 1 or 7 copies: 7 devices at most.
TEST(PlanNotes, IdleBecauseTheBatchDoesNotDivide) {
  Plan plan = answer_plan({3}, 7, Seconds{1}, Seconds{0});
  plan.training.global_batch = 7;
  EXPECT_EQ(
      idle_sentence(answer({plan}), test::eight_devices(), {}),
      "1 of 8 devices is idle: copies must divide the batch of 7 and every stage needs a layer, so that "
      "cells of 1 cannot use more");
}

TEST(PlanNotes, IdleBecauseFewerAreAskedFor) {
  SearchOptions devices;
  devices.objective = Objective::devices;
  EXPECT_EQ(
      idle_sentence(answer({answer_plan({3}, 4, Seconds{1}, Seconds{0})}), test::eight_devices(), devices),
      "4 of 8 devices are idle: fewer reach the tokens per second that are asked for");
}

TEST(PlanNotes, ACalmPlanHasNoWarnings) {
  EXPECT_TRUE(
      plan_warnings(answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})}), test::eight_devices()).empty());
}

TEST(PlanNotes, WarnsOfWhatIsTight) {
  Plan plan = answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.5});
  plan.stages[0].memory->activations = Bytes{78'000'000'000};
  plan.predicted->breakdown.data = Seconds{1.5};
  plan.predicted->step = Seconds{3};
  plan.parallelism.strategy.tensor = 8;
  plan.training.micro_batches = 1;
  const Warnings list = plan_warnings(answer({plan}), test::eight_devices());
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(
      list[0],
      "stage 0 takes 98.8 % of a device's memory; estimates of memory are not that exact: --memory-margin "
      "leaves room");
  EXPECT_THAT(list[1], HasSubstr("the network binds: 50.0 % of the step"));
  EXPECT_THAT(list[1], HasSubstr("data (1.5 s)"));
  EXPECT_EQ(list[2], "1 micro-batch does not fill 2 stages; a larger global batch would");
  EXPECT_EQ(list[3], "tensor 8 goes beyond the 4 devices of a node");
  plan.predicted->fits_probability = 0.5;  // which may be asked for
  EXPECT_THAT(plan_warnings(answer({plan}), test::eight_devices())[0],
              HasSubstr("--fits and --memory-margin leave room"));
}

TEST(PlanNotes, WarnsWhereTheClockCutTheRestShort) {
  SearchResult found = answer({answer_plan({3}, 8, Seconds{1}, Seconds{0})});
  found.further_stopped = true;
  EXPECT_EQ(
      plan_warnings(found, test::eight_devices()),
      (Warnings{
          "time was up before all was known that is said beside the fastest plan: simpler ones, and what "
          "the margin of memory costs"}));
  found.status = PlanStatus::feasible;  // whose proof says already that time was up
  EXPECT_TRUE(plan_warnings(found, test::eight_devices()).empty());
}

TEST(PlanNotes, WarnsOfALongBubble) {
  const Warnings list =
      plan_warnings(answer({answer_plan({1, 2}, 4, Seconds{0.7}, Seconds{0.3})}), test::eight_devices());
  EXPECT_EQ(list,
            (Warnings{"the pipeline is idle for 30.0 % of the step; a larger global batch shortens that"}));
}

}  // namespace
}  // namespace nest::report
