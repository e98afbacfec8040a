#include "nest/simulate/engine/step_end.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

EngineResult run(const Case& c) {
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {.contention = false});
  return run_engine(scenario, {});
}

// An engine that does nothing by itself.
class Recorder final : public StepEnd::Host {
 public:
  [[nodiscard]] double now_s() const override { return now; }
  void later(double time, std::int32_t) override { due.push_back(time); }
  void run_job(const Job&, double share, std::int32_t) override { shares.push_back(share); }
  void tell(const Event&) override {}
  double now = 0;
  std::vector<double> due;
  std::vector<double> shares;
};

// p = 1, q = 2 of the worked example (docs/design.md) with one layer: reductions start when the last pass is
// done.
Case one_stage(double forward, double backward) {
  Case c{inputs_on(example_cluster()), placed(1, 2, 1, Order::copies), {}};
  c.plan.training.micro_batches = 2;
  StageCost s;
  s.chunks.resize(1);
  s.chunks[0].forward = Seconds{forward};
  s.chunks[0].backward_input = Seconds{backward};
  s.reduces = {{CollectiveKind::all_reduce, StepCollective::Group::dense, Bytes{400'000'000}, {}}};
  c.priced.stages.push_back(std::move(s));
  return c;
}

TEST(StepEnd, ReductionsFollowTheLastPass) {
  Case c = one_stage(1e-3, 2e-3);
  price_step(c);
  const EngineResult r = run(c);
  EXPECT_NEAR(r.pipeline.value, 6e-3, 1e-12);
  EXPECT_NEAR(r.step.value, 6e-3 + 4.002e-3, 1e-12);
}

// 4.002 ms in four parts beside 2 ms of backward pass: the first part can start after 0.5 ms.
TEST(StepEnd, PartsOfGradientsAreReducedBesideTheLastPass) {
  Case c = one_stage(1e-3, 2e-3);
  c.inputs.recipe.overlap.gradient_reduce = 1;
  c.priced.stages[0].buckets = 4;
  price_step(c);
  EXPECT_NEAR(run(c).step.value, 6e-3 + 4.002e-3 - 1.5e-3, 1e-12);
  EXPECT_NEAR(c.priced.predicted.step.value, run(c).step.value, 1e-12);
  // Beside 40 ms only the last part is left.
  c = one_stage(1e-3, 40e-3);
  c.inputs.recipe.overlap.gradient_reduce = 1;
  c.priced.stages[0].buckets = 4;
  price_step(c);
  EXPECT_NEAR(run(c).step.value, 82e-3 + 4.002e-3 / 4, 1e-12);
  EXPECT_NEAR(c.priced.predicted.step.value, run(c).step.value, 1e-12);
}

// Two chunks, four parts: the second chunk's two are ready when its last pass is done, well before the end.
TEST(StepEnd, ChunksHaveTheirGradientsAtDifferentTimes) {
  Case c = one_stage(1e-3, 20e-3);
  c.plan.parallelism.schedule = Schedule::interleaved;
  c.plan.parallelism.interleave = 2;
  c.inputs.recipe.overlap.gradient_reduce = 1;
  c.priced.stages[0].chunks.resize(2, c.priced.stages[0].chunks[0]);
  c.priced.stages[0].buckets = 4;
  EXPECT_NEAR(run(c).step.value, (4 + 80 + 4.002 / 4) * 1e-3, 1e-12);
  // Where the first chunk's pass takes no time, one of four parts still hides behind the second chunk's.
  c.priced.stages[0].chunks[0].backward_input = Seconds{1e-6};
  const EngineResult r = run(c);
  EXPECT_NEAR(r.step.value - r.pipeline.value, 3 * 4.002e-3 / 4 - 1e-6, 1e-12);
}

TEST(StepEnd, AsksForPartsWhileTheLastPassRuns) {
  Case c = one_stage(1e-3, 2e-3);
  c.inputs.recipe.overlap.gradient_reduce = 1;
  c.priced.stages[0].buckets = 4;
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {.contention = false});
  Recorder host;
  StepEnd end(scenario, host);
  host.now = 1;
  end.last_pass_begins(0, 0, 2);
  EXPECT_EQ(host.due, (std::vector<double>{1.5, 2, 2.5}));
  host.now = 1.5;
  end.due(1);  // after the stages come the workers' parts
  EXPECT_EQ(host.shares, std::vector<double>{0.25});
  EXPECT_FALSE(end.over());
}

TEST(StepEnd, NormOptimizerAndGathersFollow) {
  Case c = one_stage(1e-3, 2e-3);
  StageCost& s = c.priced.stages[0];
  s.norm = Seconds{0.1e-3};
  s.optimizer = Seconds{0.5e-3};
  s.slow_down = Seconds{0.2e-3};
  s.gathers = {{CollectiveKind::all_gather, StepCollective::Group::dense_inner, Bytes{400'000'000}, {}}};
  // The gather of 400 MB over two in a node: 2.001 ms.
  EXPECT_NEAR(run(c).step.value, (6 + 4.002 + 0.1 + 0.2 + 0.5 + 2.001) * 1e-3, 1e-12);
  // Beside the next step's first forward pass, in two parts: half of that pass hides it.
  c.inputs.recipe.overlap.parameter_gather = 1;
  s.buckets = 2;
  EXPECT_NEAR(run(c).step.value, (6 + 4.002 + 0.1 + 0.2 + 0.5 + 2.001 - 0.5) * 1e-3, 1e-12);
}

// Four buckets of which each goes out, is updated and comes back: the longest of the three, and one bucket of the others.
TEST(StepEnd, AnOffloadedOptimizerWorksBucketByBucket) {
  Case c = one_stage(1e-3, 2e-3);
  StageCost& s = c.priced.stages[0];
  s.buckets = 4;
  s.norm = Seconds{0.1e-3};
  for (const auto& [out, update, back] :
       {std::array{4e-3, 8e-3, 2e-3}, {8e-3, 4e-3, 2e-3}, {2e-3, 4e-3, 8e-3}}) {
    s.offload = HostUpdate{Seconds{out}, Seconds{update}, Seconds{back}, Seconds{0.3e-3}};
    s.optimizer = s.offload->total(s.buckets);
    EXPECT_NEAR(s.optimizer.value, 8e-3 + 6e-3 / 4 + 0.3e-3, 1e-12);
    price_step(c);
    EXPECT_NEAR(run(c).step.value, (6 + 4.002 + 0.1) * 1e-3 + s.optimizer.value, 1e-12);
  }
  s.offload = HostUpdate{};  // of a recipe whose optimizer takes no time
  s.optimizer = {};
  EXPECT_NEAR(run(c).step.value, (6 + 4.002 + 0.1) * 1e-3, 1e-12);
}

// Later stages gather while the first forward passes of the next step are on their way to them.
TEST(StepEnd, EarlierStagesHideGathersOfLaterOnes) {
  Case c = example_case();
  for (StageCost& s : c.priced.stages) s.reduces.clear();
  const double before = run(c).step.value;
  c.priced.stages[1].gathers = {
      {CollectiveKind::all_gather, StepCollective::Group::dense_inner, Bytes{40'000'000}, {}}};
  price_step(c);
  // 2.005 ms across the rack, within the 3 ms of stage 0's forward pass.
  EXPECT_NEAR(run(c).step.value, before, 1e-12);
  c.priced.stages[1].gathers[0].bytes = Bytes{400'000'000};
  price_step(c);
  EXPECT_NEAR(run(c).step.value, before + 20.005e-3 - 3e-3, 1e-12);
  EXPECT_NEAR(c.priced.predicted.step.value, run(c).step.value, 1e-12);
}

// Copies of tied weights are summed once, when both ends have theirs.
TEST(StepEnd, TiedWeightsWaitForBothEnds) {
  Case c = example_case();
  const StepCollective tied{CollectiveKind::all_reduce, StepCollective::Group::tied, Bytes{100'000'000}, {}};
  for (StageCost& s : c.priced.stages) s.reduces = {tied};
  const EngineResult r = run(c);
  // 100 MB between two devices of a node: 1.002 ms after the last pass of stage 0.
  EXPECT_NEAR(r.step.value - r.pipeline.value, 1.002e-3, 1e-12);
}

// Two tensor ranks sum the gradients that each has a part of: 100 MB in a node, 1.002 ms, all of it after the
// last pass whatever else may hide.
TEST(StepEnd, PartialGradientsAreSummedWhenTheRestIsReduced) {
  Case c = one_stage(1e-3, 40e-3);
  c.inputs.recipe.overlap.gradient_reduce = 1;
  c.priced.stages[0].buckets = 4;
  c.plan.parallelism.strategy.tensor = 2;
  c.plan.parallelism.data = 1;
  c.plan.parallelism.data_inner = 1;
  c.plan.stages[0].strategy.tensor = 2;
  c.plan.stages[0].devices = {{DeviceId{0}, DeviceId{1}}};
  c.priced.stages[0].reduces = {
      {CollectiveKind::all_reduce, StepCollective::Group::replicated, Bytes{100'000'000}, {}}};
  const EngineResult r = run(c);
  EXPECT_NEAR(r.step.value - r.pipeline.value, 1.002e-3, 1e-12);
}

TEST(StepEnd, StagesWithoutCollectivesEndWithTheirPasses) {
  Case c = one_stage(1e-3, 2e-3);
  c.priced.stages[0].reduces.clear();
  EXPECT_NEAR(run(c).step.value, 6e-3, 1e-15);
}

}  // namespace
}  // namespace nest::simulate
