#include "nest/price/step_time.hpp"

#include <gtest/gtest.h>

namespace nest::price {
namespace {

StageCost stage(double forward, double backward) {
  StageCost cost;
  ChunkCost chunk;
  chunk.forward = Seconds{forward};
  chunk.backward_input = Seconds{backward / 2};
  chunk.backward_weight = Seconds{backward / 2};
  cost.chunks.push_back(chunk);
  return cost;
}

struct Step {
  Plan plan;
  PricedPlan priced;
  std::vector<StagePass> passes;

  explicit Step(std::vector<StageCost> stages, std::int64_t micro_batches = 4) {
    plan.training.micro_batches = micro_batches;
    plan.parallelism.pipeline = static_cast<std::int64_t>(stages.size());
    priced.stages = std::move(stages);
  }
  Seconds time(double waiting = 1) {
    step_time(plan, PipelineModel::one_f_one_b, passes, {waiting}, priced);
    return priced.predicted.step;
  }
};

TEST(StepTime, EqualStagesHaveTheWellKnownBubble) {
  Step step({stage(1, 2), stage(1, 2)});
  EXPECT_DOUBLE_EQ(step.time().value, (4 + 1) * 3.0);
  EXPECT_DOUBLE_EQ(step.priced.predicted.breakdown.bubble.value, 3);
}

TEST(StepTime, AllWaitForTheSlowestWhereGradientsAreReduced) {
  Step step({stage(1, 2), stage(1, 2)});
  EXPECT_NEAR(step.time(1.1).value, 1.1 * 15, 1e-12);
  EXPECT_NEAR(step.priced.predicted.stragglers.value, 0.1 * 15, 1e-12);
  EXPECT_NEAR(step.priced.predicted.breakdown.data.value, 0.1 * 15, 1e-12);
  EXPECT_DOUBLE_EQ(step.priced.predicted.breakdown.bubble.value, 3);
}

// Two stages of two chunks and four micro-batches: F = 1 s, I = W = 1 s of compute, and 1 s of exchanges either way, all
// of which a pair hides. Passes alone take 2 s and 3 s, each stage's three pairs 3 s in place of 5. Stage 0 works
// 4 x 10 - 3 x 2 = 34 s and waits 3 s: from 16 to 18 s for the first gradients to come back, and from 33 to 34 s for the
// last ones. Where nothing hides it is the paper's 4 x 10 s + (pair + B - 3 W).
TEST(StepTime, PairsSaveWhatTheyHide) {
  StageCost both = stage(1, 2);
  both.chunks[0].forward_collectives.expert = both.chunks[0].backward_collectives.expert = Seconds{1};
  both.chunks[0].forward_beside = both.chunks[0].backward_beside = Seconds{1};
  both.chunks.push_back(both.chunks[0]);
  Step step({both, both});
  step.plan.parallelism.schedule = Schedule::dualpipe_v;
  step.plan.parallelism.interleave = 2;
  const ScheduleShape shape{2, 4, 2};
  for (const std::int64_t i : {0, 1}) {
    for (const std::int64_t c : {0, 1})
      step.priced.stages[static_cast<std::size_t>(i)].chunks[static_cast<std::size_t>(c)].paired =
          paired_share(Schedule::dualpipe_v, shape, i, c);
  }
  const double time = step.time().value;
  const Breakdown& parts = step.priced.predicted.breakdown;
  EXPECT_DOUBLE_EQ(time, 37);
  EXPECT_DOUBLE_EQ(step.priced.pipeline.value, 37);
  EXPECT_DOUBLE_EQ(parts.compute.value, 4 * 6);
  EXPECT_DOUBLE_EQ(parts.expert.value, 4 * 4 - 3 * 2);
  EXPECT_DOUBLE_EQ(parts.bubble.value, 3);
  for (StageCost& s : step.priced.stages) {
    for (ChunkCost& c : s.chunks) c.forward_beside = c.backward_beside = Seconds{0};
  }
  EXPECT_DOUBLE_EQ(step.time().value, 4 * 10 + 5 + 3 - 3);
}

// Stage 1 ends 2 s before stage 0, so that 2 of its 5 s of reduction are hidden; stage 0 has 1 s of its own.
TEST(StepTime, LaterStagesReduceBesideEarlierOnes) {
  Step step({stage(1, 2), stage(1, 2)});
  step.priced.stages[0].reduce = step.priced.stages[0].reduce_alone = Seconds{1};
  step.priced.stages[1].reduce = step.priced.stages[1].reduce_alone = Seconds{5};
  EXPECT_DOUBLE_EQ(step.time().value, 15 + 3);
  EXPECT_DOUBLE_EQ(step.priced.predicted.breakdown.data.value, 3);
}

// A later stage needs its parameters a forward pass later: 1 s of its 4 s of gathering is hidden.
TEST(StepTime, GathersOverlapTheNextFill) {
  Step step({stage(1, 2), stage(1, 2)});
  step.priced.stages[0].optimizer = step.priced.stages[1].optimizer = Seconds{0.5};
  step.priced.stages[1].gather = Seconds{4};
  step.priced.stages[0].norm = Seconds{0.25};
  EXPECT_DOUBLE_EQ(step.time().value, 15 + 0.25 + 0.5 + 3);
  EXPECT_DOUBLE_EQ(step.priced.predicted.breakdown.zero.value, 3);
  EXPECT_DOUBLE_EQ(step.priced.predicted.breakdown.optimizer.value, 0.75);
}

// Two stages whose reductions take 1 s alone and 2 s together: stage 1 begins 2 s before stage 0 ends, and is
// through by then.
TEST(StepTime, SharedLinksAreBusyFromTheFirstStageToReduce) {
  Step step({stage(1, 2), stage(1, 2)});
  for (StageCost& s : step.priced.stages) {
    s.reduce_alone = Seconds{1};
    s.reduce = Seconds{2};
  }
  EXPECT_DOUBLE_EQ(step.time().value, 15 + 1);
  // 10 s together: half of it is stage 1's, 2 s of which lie before the end.
  for (StageCost& s : step.priced.stages) s.reduce = Seconds{10};
  EXPECT_DOUBLE_EQ(step.time().value, 15 + 8);
}

TEST(StepTime, ZeroBubbleHidesNothingAtTheEnd) {
  Step step({stage(1, 2), stage(1, 2)});
  step.plan.parallelism.schedule = Schedule::zb_h1;
  const Seconds before = step.time();
  step.priced.stages[1].reduce = step.priced.stages[1].reduce_alone = Seconds{5};
  EXPECT_DOUBLE_EQ(step.time().value, before.value + 5);
}

}  // namespace
}  // namespace nest::price
