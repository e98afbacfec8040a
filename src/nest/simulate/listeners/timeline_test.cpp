#include "nest/simulate/listeners/timeline.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/simulate.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

TEST(Timeline, KeepsWhatEachStreamDid) {
  Case c = example_case();
  c.priced.stages[0].chunks[0].recompute = Seconds{2e-3};
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  Timeline timeline;
  const std::array<Listener*, 1> listeners{&timeline};
  const EngineResult r = run_engine(scenario, listeners);
  EXPECT_EQ(timeline.step(), r.step);
  EXPECT_EQ(timeline.stages(), 2U);
  EXPECT_NEAR(timeline.recomputed_share(0, 0), 2.0 / 8, 1e-12);
  std::array<double, 8> sums{};
  double last_on_stage_1 = 0;
  for (const Segment& s : timeline.segments()) {
    sums[static_cast<std::size_t>(s.kind)] += (s.to - s.from).value;
    if (s.worker == 1 && s.stream == Stream::compute) {
      EXPECT_GE(s.from.value, last_on_stage_1 - 1e-15);  // one thing at a time
      last_on_stage_1 = s.to.value;
    }
  }
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::forward)], 4 * (3e-3 + 1e-3), 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::backward)], 4 * (8e-3 + 2e-3), 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::receive)], 8 * 0.501e-3, 1e-12);
  EXPECT_NEAR(sums[static_cast<std::size_t>(SegmentKind::reduce)], 60.020e-3, 1e-12);
}

// Two passes beside each other work at the same time, after the compute stream has received one input and then the
// other; their work counts once.
TEST(Timeline, PassesBesideEachOtherWorkAtOneTime) {
  std::mt19937 random(11);
  const Case c = random_case(random, {.schedule = Schedule::dualpipe_v});
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  Timeline timeline;
  const std::array<Listener*, 1> listeners{&timeline};
  static_cast<void>(run_engine(scenario, listeners));
  const Segment* forward = nullptr;
  std::size_t pairs = 0;
  for (const Segment& s : timeline.segments()) {
    if (s.beside == Beside::backward) forward = &s;
    if (s.beside != Beside::forward) continue;
    ++pairs;
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->worker, s.worker);
    EXPECT_EQ(forward->kind, SegmentKind::forward);
    EXPECT_EQ(s.kind, SegmentKind::backward);
    EXPECT_EQ(forward->from, s.from);
    EXPECT_EQ(forward->to, s.to);
    EXPECT_NE(forward->task.chunk, s.task.chunk);
  }
  const std::int64_t p = c.plan.parallelism.pipeline;
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < p; ++i) {
    for (const std::int64_t chunk : {0, 1}) expected += kDualPipeV.paired(scenario.shape, i, chunk);
  }
  EXPECT_EQ(static_cast<std::int64_t>(pairs), expected * static_cast<std::int64_t>(scenario.classes()));
  // One thing, or one pair, at a time.
  const SimulationResult run = run_simulation(c.plan, c.priced, c.inputs, {});
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    const auto m = static_cast<double>(c.plan.training.micro_batches);
    const StageCost& cost = c.priced.stages[i];
    double work = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const ChunkCost& own = cost.chunks[k];
      work += m * (own.forward_work() + own.backward_work()).value -
              static_cast<double>(kDualPipeV.paired(scenario.shape, static_cast<std::int64_t>(i),
                                                    static_cast<std::int64_t>(k))) *
                  saved_in_pair(own, cost.chunks[1 - k]).value;
    }
    EXPECT_NEAR(run.stages[i].work.value, work, 1e-9 * work);
  }
}

}  // namespace
}  // namespace nest::simulate
