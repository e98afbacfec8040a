#include "nest/simulate/engine/engine.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/price/test_makespan.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

class Recorder final : public Listener {
 public:
  void on(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

EngineResult run(const Case& c, const ScenarioOptions& options, Listener* listener = nullptr) {
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, options);
  const std::array<Listener*, 1> one{listener};
  return run_engine(scenario, std::span<Listener* const>(one.data(), listener == nullptr ? 0 : 1));
}

// The receive is part of the task: the run takes what the longest path over the tasks takes.
TEST(Engine, RunsTheTaskOrder) {
  constexpr unsigned kSeed = 20260807;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int n = 0; n < 300; ++n) {
    Case c = random_case(random, {.schedule = static_cast<Schedule>(n % 5), .spread = 2});
    std::vector<StagePass> passes;
    for (const StageCost& s : c.priced.stages) {
      for (const ChunkCost& k : s.chunks)
        passes.push_back({k.f().value, k.b().value, k.backward_weight.value});
    }
    const ScheduleShape shape{c.plan.parallelism.pipeline, c.plan.training.micro_batches,
                              c.plan.parallelism.interleave};
    const double expected = *makespan(c.plan.parallelism.schedule, shape, passes);
    ASSERT_NEAR(run(c, {.as_priced = true}).pipeline.value, expected, 1e-9 * expected) << n;
  }
}

TEST(Engine, TellsEveryTaskInOrderOfTime) {
  const Case c = example_case();
  Recorder recorder;
  const EngineResult r = run(c, {}, &recorder);
  EXPECT_EQ(r.tasks, 16);
  double last = 0;
  int begun = 0;
  int ended = 0;
  for (const Event& e : recorder.events) {
    EXPECT_GE(e.time.value, last);
    last = e.time.value;
    begun += e.kind == EventKind::task_begin ? 1 : 0;
    ended += e.kind == EventKind::task_end ? 1 : 0;
    if (e.kind == EventKind::task_end) {
      EXPECT_LE(e.from, e.work_from);
      EXPECT_LE(e.work_from, e.time);
    }
  }
  EXPECT_EQ(begun, 16);
  EXPECT_EQ(ended, 16);
}

TEST(Engine, RepeatsItself) {
  std::mt19937 random(3);
  const Case c = random_case(random, {.spread = 1, .collectives = true});
  Recorder first;
  Recorder second;
  static_cast<void>(run(c, {}, &first));
  static_cast<void>(run(c, {}, &second));
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    ASSERT_EQ(first.events[i].time, second.events[i].time);
    ASSERT_EQ(first.events[i].worker, second.events[i].worker);
  }
}

// With sends beside compute nobody is held, but the first micro-batch still has to travel.
TEST(Engine, OverlappedSendsLeaveTheComputeStreamFree) {
  Case c = example_case();
  c.inputs.recipe.overlap.pipeline = 1;
  Recorder recorder;
  const EngineResult r = run(c, {}, &recorder);
  for (const Event& e : recorder.events) {
    if (e.kind != EventKind::task_end) continue;
    EXPECT_EQ(e.from, e.work_from);
  }
  // 4 * 9 ms of work of stage 0, and its first backward pass waits: 3 (F) + 0.501 + 3 (F, B of stage 1) +
  // 0.501 = 7.002 against two forward passes of its own, 6.
  EXPECT_NEAR(r.pipeline.value, 36e-3 + 1.002e-3, 1e-12);
}

TEST(Engine, HalfOverlappedSendsHoldForHalf) {
  Case c = example_case();
  c.inputs.recipe.overlap.pipeline = 0.5;
  Recorder recorder;
  static_cast<void>(run(c, {}, &recorder));
  for (const Event& e : recorder.events) {
    const bool receives = e.kind == EventKind::task_end && e.sender;
    if (!receives) continue;
    EXPECT_NEAR((e.work_from - e.from).value, 0.2505e-3, 1e-12);
  }
}

// Two copies whose sends share one uplink of half the bandwidth that both want.
TEST(Engine, SendsWaitForEachOther) {
  Case c{inputs_on(cluster_of({level("node", 2, 100e9, 0), level("rack", 2, 10e9, 0, 2)})),
         placed(2, 2, 1, Order::stages),
         {}};
  c.plan.training.micro_batches = 1;
  for (int i = 0; i < 2; ++i) {
    StageCost s;
    s.chunks.resize(1);
    s.chunks[0].forward = s.chunks[0].backward_input = Seconds{1e-3};
    s.chunks[0].forward_bytes = s.chunks[0].backward_bytes = Bytes{10'000'000};
    c.priced.stages.push_back(std::move(s));
  }
  price_receives(c);
  price_step(c);
  // Alone 1 ms each way; the node's uplink carries 2 * 10 / 2 GB/s for two senders: 2 ms.
  EXPECT_NEAR(run(c, {.contention = false}).pipeline.value, 6e-3, 1e-12);
  for (const bool all : {false, true}) {
    const EngineResult r = run(c, {.all_copies = all});
    EXPECT_NEAR(r.pipeline.value, 8e-3, 1e-12);
    double waited = 0;
    for (const double w : r.waited_s) waited += w;
    EXPECT_GT(waited, 0);
  }
}

}  // namespace
}  // namespace nest::simulate
