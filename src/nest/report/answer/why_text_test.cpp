#include "nest/report/answer/why_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;
using testing::HasSubstr;

const Plan kBest = answer_plan({3}, 8, Seconds{1}, Seconds{0});

// The answer with its question: devices have 80 GB, which are 74.5 GiB.
struct Answered {
  SearchResult found = answer({kBest});
  PlanInputs inputs = test::eight_devices();
  SearchOptions asked;

  [[nodiscard]] Beside beside() const { return {found, inputs, asked}; }
};

Alternative slower(const std::string& degree, const std::string& value, Plan plan) {
  Alternative one;
  one.degree = degree;
  one.value = value;
  one.answer.choice = degree + "=" + value;
  one.answer.cost = plan.predicted->step - kBest.predicted->step;
  one.answer.found = answer({std::move(plan)});
  return one;
}

TEST(WhyText, ASentenceForEachAlternative) {
  const Plan pipelined = answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25});
  Why why;
  why.all.push_back(slower("pipeline", "2", pipelined));
  why.all.push_back(slower("data", "4", pipelined));
  why.all.push_back(slower("recompute", "full", answer_plan({3}, 8, Seconds{1}, Seconds{0})));
  Alternative large;
  large.degree = "zero";
  large.value = "0";
  large.answer.found.least_memory = Bytes{std::int64_t{96} << 30};
  large.smallest = kBest;
  why.all.push_back(large);
  Alternative never;
  never.degree = "tensor";
  never.value = "3";
  never.answer.found.reason = "tensor 3 does not divide 64 heads";
  why.all.push_back(never);
  Alternative late;
  late.degree = "schedule";
  late.value = "gpipe";
  late.answer.found.status = PlanStatus::limit;
  why.all.push_back(late);
  EXPECT_EQ(why_text(why, Answered().beside()), R"(Why this plan?
- pipeline 2 (with data 4) takes 25.0 % longer: it loses 250 ms to the pipeline's bubble, idling
  20.0 % of the step
- recomputation full costs nothing: a plan with it takes as long
- ZeRO 0 does not fit: it needs 96 GiB or more, most of it activations (2.79 GiB), and a device has
  74.5 GiB
- tensor 3 is not possible: tensor 3 does not divide 64 heads
No plan was found in time (raise --time-limit) for schedule gpipe.
)");
  EXPECT_THAT(why_text({}, Answered().beside()), HasSubstr("leaves no other choice"));
}

TEST(WhyText, AsJson) {
  Why why;
  why.all.push_back(slower("pipeline", "2", answer_plan({1, 2}, 4, Seconds{1}, Seconds{0.25})));
  EXPECT_EQ(
      to_json_line(to_value(why, Answered().beside())),
      R"([{"choice": "pipeline=2", "degree": "pipeline", "value": "2", "status": "optimal", "sentence": )"
      R"("pipeline 2 (with data 4) takes 25.0 % longer: it loses 250 ms to the pipeline's bubble, idling 20.0 % of the )"
      R"(step", "step_s": 1.25, "cost_s": 0.25, "share": 0.25, "loses_most_by": {"name": "bubble", )"
      R"("change_s": 0.25}}])");
}

// What else changes is said, whoever asks for one degree alone.
TEST(WhyText, OtherDegreesThatChange) {
  Plan other = answer_plan({1, 2}, 2, Seconds{1}, Seconds{0.2});
  other.parallelism.strategy.tensor = 2;
  Why why;
  why.all.push_back(slower("zero", "0", other));
  const Answered a;
  EXPECT_THAT(
      why_text(why, a.beside()),
      HasSubstr("ZeRO 0 (with tensor 2, pipeline 2, data 2) takes 20.0 % longer: it loses 200 ms to the"));
  why.all.push_back(slower("schedule", "gpipe", other));
  EXPECT_THAT(why_text(why, a.beside()),
              HasSubstr("ZeRO 0 (with tensor 2, pipeline 2, data 2, schedule gpipe) takes"));
}

TEST(WhyText, BesideANearTie) {
  Answered a;
  a.found.plans.front() = answer_plan({1, 2}, 4, Seconds{0.998}, Seconds{0});
  a.found.simpler = kBest;
  Why why;
  why.all.push_back(slower("pipeline", "2", a.found.plans.front()));
  why.all.push_back(slower("pipeline", "3", answer_plan({1, 1, 1}, 2, Seconds{0.999}, Seconds{0})));
  EXPECT_EQ(why_text(why, a.beside()), R"(Why this plan?
- pipeline 2 (with data 4) takes 0.2 % less: it is the best plan, for which the plan above stands in
- pipeline 3 (with data 2) takes 0.1 % less
)");
}

// Two devices of one node for 1 s; eight of two nodes for 0.9 s cost 80 % more.
TEST(WhyText, OfCosts) {
  Answered a;
  a.asked.objective = Objective::cost;
  Plan small = answer_plan({3}, 2, Seconds{1}, Seconds{0});
  for (const std::int32_t id : {0, 1}) small.stages[0].devices.push_back({DeviceId{id}});
  Plan large = answer_plan({3}, 8, Seconds{0.9}, Seconds{0});
  for (std::int32_t id = 0; id < 8; ++id) large.stages[0].devices.push_back({DeviceId{id}});
  a.found.plans.front() = small;
  Why why;
  why.all.push_back(slower("data", "8", large));
  EXPECT_EQ(why_text(why, a.beside()), R"(Why this plan?
- data 8 costs 80.0 % more for a token: 900 ms a step on 8 rented devices in place of 1 s a step on
  4 rented devices
)");
}

TEST(WhyText, WhatWouldMakeItTheBest) {
  EXPECT_EQ(relaxations_text({}), "");
  Relaxations none;
  none.bandwidth = none.memory = true;
  EXPECT_EQ(
      relaxations_text(none),
      "What would make it the best plan\nNone of the single changes that were tried: the bandwidth of each "
      "level, up to 64 times as much or\nas little, and up to 2 times the memory.\n");
  none.margin = true;
  EXPECT_THAT(relaxations_text(none),
              HasSubstr("and up to 2 times the memory, and a smaller margin of memory, or none.\n"));
  Relaxations less;
  less.margin = true;
  less.all.push_back({.kind = RelaxationKind::margin,
                      .change = "no margin of memory in place of 7.2 % (--risky)",
                      .factor = 1.08,
                      .step = Seconds{1.5},
                      .proved = true});
  EXPECT_EQ(
      to_json_line(to_value(less)),
      R"x([{"kind": "margin", "change": "no margin of memory in place of 7.2 % (--risky)", "factor": 1.08, )x"
      R"x("step_s": 1.5, "proved": true, "memory_margin": 0}])x");
  Relaxations some = none;
  some.all.push_back({.change = "2.4 times the bandwidth at level 'node' (1.08 TB/s in place of 450 GB/s)",
                      .level = "node",
                      .factor = 2.4,
                      .step = Seconds{1.5},
                      .proved = true});
  some.stopped = true;
  EXPECT_EQ(
      relaxations_text(some),
      "What would make it the best plan\n- 2.4 times the bandwidth at level 'node' (1.08 TB/s in place of "
      "450 GB/s): 1.5 s a step\nNot all changes were tried within the time limit.\n");
  EXPECT_EQ(
      to_json_line(to_value(some)),
      R"x([{"kind": "bandwidth", "change": "2.4 times the bandwidth at level 'node' (1.08 TB/s in place of )x"
      R"x(450 GB/s)", "level": "node", "factor": 2.4, "step_s": 1.5, "proved": true}])x");
}

}  // namespace
}  // namespace nest::report
