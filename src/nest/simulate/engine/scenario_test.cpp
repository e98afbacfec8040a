#include "nest/simulate/engine/scenario.hpp"

#include <gtest/gtest.h>

#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(Scenario, OneWorkerForEachStageOfCopiesThatAreAlike) {
  const Case c = example_case();
  const Scenario few = make_scenario(c.plan, c.priced, c.inputs, {});
  ASSERT_EQ(few.workers.size(), 2U);
  EXPECT_EQ(few.workers[0].stands_for, 2);
  EXPECT_EQ(few.classes(), 1U);
  const Scenario all = make_scenario(c.plan, c.priced, c.inputs, {.all_copies = true});
  EXPECT_EQ(all.workers.size(), 4U);
  EXPECT_EQ(all.classes(), 2U);
}

TEST(Scenario, ReceivesAreThoseOfTheNeighbours) {
  const Case c = example_case();
  const Scenario s = make_scenario(c.plan, c.priced, c.inputs, {});
  EXPECT_TRUE(s.receive(0, 0, false).phases.empty());  // the first stage's input is its own
  EXPECT_NEAR(s.receive(0, 0, true).alone_s(), 0.501e-3, 1e-12);
  EXPECT_NEAR(s.receive(1, 0, false).alone_s(), 0.501e-3, 1e-12);
  EXPECT_TRUE(s.receive(1, 0, true).phases.empty());
}

TEST(Scenario, AsPricedTakesTimesFromThePrice) {
  Case c = example_case();
  c.priced.stages[1].chunks[0].forward_receive = Seconds{9};
  c.priced.stages[0].reduces[0].time = Seconds{7};
  const Scenario s = make_scenario(c.plan, c.priced, c.inputs, {.as_priced = true});
  EXPECT_EQ(s.receive(1, 0, false).alone_s(), 9);
  EXPECT_EQ(s.reduces[0][0].alone_s(), 7);
  EXPECT_EQ(s.classes(), 1U);
}

TEST(Scenario, InterleavedStagesReceiveRoundTheEnd) {
  Case c = example_case();
  c.plan.parallelism.schedule = Schedule::interleaved;
  c.plan.parallelism.interleave = 2;
  for (StageCost& stage : c.priced.stages) stage.chunks.resize(2, stage.chunks[0]);
  price_receives(c);
  for (StageCost& stage : c.priced.stages) {
    for (ChunkCost& chunk : stage.chunks) chunk.forward_bytes = Bytes{50'000'000};
  }
  c.priced.stages[0].chunks[0].forward_bytes = Bytes{0};
  const Scenario s = make_scenario(c.plan, c.priced, c.inputs, {});
  EXPECT_TRUE(s.receive(0, 0, false).phases.empty());
  EXPECT_NEAR(s.receive(0, 1, false).alone_s(), 0.501e-3, 1e-12);
}

TEST(Scenario, WorkOfTasks) {
  Case c = example_case();
  Scenario s = make_scenario(c.plan, c.priced, c.inputs, {});
  EXPECT_NEAR(s.work_s(0, {TaskKind::forward, 0, 0}), 3e-3, 1e-15);
  EXPECT_NEAR(s.work_s(0, {TaskKind::backward, 0, 0}), 6e-3, 1e-15);
  s.schedule = Schedule::zb_h1;
  EXPECT_NEAR(s.work_s(0, {TaskKind::backward, 0, 0}), 3e-3, 1e-15);
  EXPECT_NEAR(s.work_s(0, {TaskKind::backward_weight, 0, 0}), 3e-3, 1e-15);
}

// Passes of 3 s and 4 s that run beside each other, with 1 s of exchanges each, of which all hides.
TEST(Scenario, WorkOfTwoTasksBesideEachOther) {
  Case c = example_case();
  c.plan.parallelism.schedule = Schedule::dualpipe_v;
  c.plan.parallelism.interleave = 2;
  for (StageCost& stage : c.priced.stages) {
    ChunkCost chunk;
    chunk.forward = Seconds{3};
    chunk.backward_input = chunk.backward_weight = Seconds{2};
    add_exchanges(chunk, 1, 1, 1);
    stage.chunks = {chunk, chunk};
  }
  const Scenario s = make_scenario(c.plan, c.priced, c.inputs, {});
  const Task forward{TaskKind::forward, 0, 0};
  const Task input{TaskKind::backward, 1, 0};
  Task whole = input;
  whole.whole = true;
  EXPECT_NEAR(s.work_s(0, forward), 4, 1e-12);
  EXPECT_NEAR(s.work_s(0, input), 3, 1e-12);
  EXPECT_NEAR(s.work_s(0, whole), 5, 1e-12);
  EXPECT_NEAR(s.pair_s(0, forward, whole), 4 + 5 - 2, 1e-12);
}

TEST(Scenario, NothingIsSharedWhereEveryLinkIsWideEnough) {
  const Case c = example_case();
  EXPECT_EQ(make_scenario(c.plan, c.priced, c.inputs, {.contention = false}).narrow_links, 0U);
}

}  // namespace
}  // namespace nest::simulate
