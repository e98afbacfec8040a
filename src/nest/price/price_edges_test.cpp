// Prices at the edges: interleaving, zero bubbles, weights tied in odd places, plans that cannot be.
#include <gtest/gtest.h>

#include <cmath>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"
#include "nest/price/test_makespan.hpp"
#include "support/message_of.hpp"

namespace nest::price {
namespace {

using test::example_inputs;
using test::example_plan;

constexpr double kExact = 1e-12;

// A chain of n layers of the example's first kind: forward 1 ms, backward 2 ms, 200 MB, stash 100 MB.
PlanInputs chain_inputs(std::int32_t n) {
  PlanInputs inputs = example_inputs();
  ProfileStrategy& own = std::get<LayerProfile>(inputs.source).strategies.front();
  own.layers.resize(1);
  own.edges.clear();
  for (std::int32_t i = 1; i < n; ++i) {
    own.layers.push_back(own.layers.front());
    own.layers.back().name = "l" + std::to_string(i);
    own.edges.push_back({LayerId{i - 1}, LayerId{i}, "out" + std::to_string(i), Bytes{50'000'000}});
  }
  return inputs;
}

// chunks[stage][chunk]
Plan interleaved_plan(const std::vector<std::vector<std::vector<int>>>& chunks, std::int64_t m) {
  std::vector<std::vector<int>> stages;
  for (const auto& stage : chunks) {
    std::vector<int>& layers = stages.emplace_back();
    for (const auto& chunk : stage) layers.insert(layers.end(), chunk.begin(), chunk.end());
    std::sort(layers.begin(), layers.end());
  }
  Plan plan = example_plan(stages, 1, 1);
  plan.training.global_batch = plan.training.micro_batches = m;
  plan.parallelism.schedule = Schedule::interleaved;
  plan.parallelism.interleave = static_cast<std::int64_t>(chunks.front().size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto& chunk : chunks[i]) {
      auto& ids = plan.stages[i].chunks.emplace_back();
      for (const int id : chunk) ids.emplace_back(id);
    }
  }
  return plan;
}

// Three stages on devices 2, 1 and 0: 0 to 1 crosses the rack (5.005 ms), 1 to 2 stays in the node (0.501),
// and the way back from the last stage to the first one's second chunk crosses the rack again.
TEST(Interleaved, TheLastStageSendsBackToTheFirst) {
  Pricer pricer(chain_inputs(6));
  const PricedPlan p = pricer.price(interleaved_plan({{{0}, {3}}, {{1}, {4}}, {{2}, {5}}}, 3));
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  const auto forward = [&](std::size_t i, std::size_t c) { return p.stages[i].chunks[c].forward_receive; };
  const auto backward = [&](std::size_t i, std::size_t c) { return p.stages[i].chunks[c].backward_receive; };
  EXPECT_EQ(forward(0, 0).value, 0);
  EXPECT_NEAR(forward(0, 1).value, 5.005e-3, kExact);  // from the last stage
  EXPECT_NEAR(forward(1, 0).value, 5.005e-3, kExact);
  EXPECT_NEAR(forward(1, 1).value, 5.005e-3, kExact);
  EXPECT_NEAR(forward(2, 0).value, 0.501e-3, kExact);
  EXPECT_NEAR(forward(2, 1).value, 0.501e-3, kExact);
  EXPECT_NEAR(backward(2, 0).value, 5.005e-3, kExact);  // from the first stage's second chunk
  EXPECT_EQ(backward(2, 1).value, 0);
  EXPECT_NEAR(backward(1, 0).value, 0.501e-3, kExact);
  EXPECT_NEAR(backward(0, 1).value, 5.005e-3, kExact);
}

// The closed form is never above the time of the task order, and close to it.
TEST(Interleaved, PriceIsTheTimeOfTheTaskOrder) {
  Pricer pricer(chain_inputs(8));
  const PricedPlan p = pricer.price(interleaved_plan({{{0, 1}, {4, 5}}, {{2, 3}, {6, 7}}}, 4));
  std::vector<StagePass> passes;
  for (const StageCost& stage : p.stages) {
    for (const ChunkCost& c : stage.chunks) passes.push_back({c.f().value, c.b().value, 0});
  }
  const double walked = *makespan(Schedule::interleaved, {2, 4, 2}, passes);
  EXPECT_LE(p.pipeline.value, walked * (1 + 1e-12));
  EXPECT_GE(p.pipeline.value, 0.95 * walked);
  // Stage 0 holds min(8, 2 * 1 + 2 + 1) chunk stashes of 200 MB, stage 1 three.
  EXPECT_EQ(p.stages[0].memory.activations, Bytes{5 * 200'000'000LL});
  EXPECT_EQ(p.stages[1].memory.activations, Bytes{3 * 200'000'000LL});
}

// Readers put layers in order; a plan from elsewhere that does not is refused, not priced as other layers.
TEST(Interleaved, ChunksAreInOrder) {
  PlanInputs inputs = chain_inputs(6);
  ProfileStrategy& own = std::get<LayerProfile>(inputs.source).strategies.front();
  for (std::size_t i = 0; i < 6; ++i) own.layers[i].forward = Seconds{1e-3 * static_cast<double>(i + 1)};
  own.edges.clear();  // six branches: any cut is a pipeline
  Pricer pricer(std::move(inputs));
  const PricedPlan sorted = pricer.price(interleaved_plan({{{0, 2, 4}, {5}}, {{1}, {3}}}, 4));
  const PricedPlan listed = pricer.price(interleaved_plan({{{0, 4, 2}, {5}}, {{1}, {3}}}, 4));
  ASSERT_EQ(sorted.status, PriceStatus::feasible) << sorted.reason;
  EXPECT_NEAR(sorted.stages[0].chunks[0].forward.value, 9e-3, kExact);
  EXPECT_EQ(listed.reason, "stage 0: layers are listed in ascending order");
}

// A chunk without layers hands on what it gets: four sends of 50 MB forward where there would be three.
TEST(Interleaved, AnEmptyChunkOnlyRelays) {
  PlanInputs inputs = chain_inputs(3);
  Pricer pricer(std::move(inputs));
  const PricedPlan p = pricer.price(interleaved_plan({{{0}, {}}, {{1}, {2}}}, 4));
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  const ChunkCost& empty = p.stages[0].chunks[1];
  EXPECT_EQ(empty.forward_work().value, 0);
  EXPECT_EQ(empty.stash, Bytes{0});
  EXPECT_NEAR(empty.forward_receive.value, 0.501e-3, kExact);
  EXPECT_NEAR(empty.backward_receive.value, 0.501e-3, kExact);
  EXPECT_NEAR(p.stages[1].chunks[1].forward_receive.value, 0.501e-3, kExact);
}

// The last stage works without a pause: 1 ms until its first micro-batch, then 4 * 9.501. Its weight
// gradients end the pipeline, so nothing hides the 400 MB that it reduces across the rack.
TEST(ZeroBubble, ZeroBubbleReducesWaitForWeightGradients) {
  Pricer pricer(example_inputs());
  Plan plan = example_plan({{0}, {1, 2}}, 2, 1);
  plan.parallelism.schedule = Schedule::zb_h1;
  const PricedPlan p = pricer.price(plan);
  const std::vector<StagePass> passes{{1e-3, 2.501e-3, 1e-3}, {3.501e-3, 6e-3, 3e-3}};
  EXPECT_NEAR(*makespan(Schedule::zb_h1, {2, 4, 1}, passes), 39.004e-3, kExact);
  EXPECT_NEAR(p.pipeline.value, 39.004e-3, kExact);
  EXPECT_NEAR(p.stages[1].reduce.value, 40.010e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, (39.004 + 40.010) * 1e-3, kExact);
}

// Layers 1 and 2 share 80 MB. All stages but the ends look alike, yet only the second user's stage holds a
// copy, and stages without a user sum nothing.
TEST(Tied, OnlyStagesWithUsersPayForAWeightTiedInTheMiddle) {
  PlanInputs inputs = chain_inputs(5);
  ClusterParts parts = inputs.cluster.parts();
  parts.levels.resize(1);
  parts.levels[0].fan_out.size = 8;
  std::get<LayerProfile>(inputs.source).shared = {{{LayerId{1}, LayerId{2}}, Bytes{80'000'000}}};
  Pricer pricer({inputs.model, inputs.source, Cluster(std::move(parts)), inputs.recipe});
  const PricedPlan p = pricer.price(example_plan({{0}, {1}, {2}, {3}, {4}}, 1, 1));
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_EQ(p.stages[1].memory.weights, Bytes{200'000'000});
  EXPECT_EQ(p.stages[2].memory.weights, Bytes{280'000'000});
  EXPECT_EQ(p.stages[3].memory.weights, Bytes{200'000'000});
  EXPECT_EQ(p.stages[0].reduce.value, 0);
  EXPECT_NEAR(p.stages[1].reduce.value, 0.802e-3, kExact);
  EXPECT_NEAR(p.stages[2].reduce.value, 0.802e-3, kExact);
  EXPECT_EQ(p.stages[3].reduce.value, 0);
}

// Layers 0 and 1 share 80 MB: their stages lie side by side in a node (devices 3 and 2), 0.802 ms.
TEST(Tied, TheSumRunsBetweenTheStagesThatShare) {
  PlanInputs inputs = chain_inputs(4);
  std::get<LayerProfile>(inputs.source).shared = {{{LayerId{0}, LayerId{1}}, Bytes{80'000'000}}};
  Pricer pricer(std::move(inputs));
  const PricedPlan p = pricer.price(example_plan({{0}, {1}, {2}, {3}}, 1, 1));
  EXPECT_NEAR(p.stages[0].reduce.value, 0.802e-3, kExact);
  EXPECT_NEAR(p.stages[1].reduce.value, 0.802e-3, kExact);
}

// Shared bytes are, like an edge's, of the whole tensor: each tensor rank has its part.
TEST(Tied, SharedBytesOfAProfileAreTheWholeTensors) {
  PlanInputs inputs = example_inputs();
  auto& profile = std::get<LayerProfile>(inputs.source);
  profile.strategies.front().tensor = 2;
  profile.shared = {{{LayerId{0}, LayerId{2}}, Bytes{80'000'000}}};
  Plan plan = example_plan({{0, 1}, {2}}, 1, 1);
  plan.parallelism.strategy.tensor = 2;
  for (Stage& stage : plan.stages) stage.strategy = plan.parallelism.strategy;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_EQ(p.stages[1].memory.weights, Bytes{240'000'000});
}

// A plan's own optimizer goes before the recipe's: sgd has no states besides the fp32 master weights.
TEST(Price, ThePlansOptimizerCounts) {
  PlanInputs inputs = example_inputs();
  inputs.recipe = named_recipe("megatron");
  Pricer pricer(std::move(inputs));
  Plan plan = example_plan({{0, 1, 2}}, 2, 2);
  plan.training.optimizer = Optimizer::adam;
  const Bytes adam = pricer.price(plan).stages[0].memory.optimizer;
  plan.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(adam, Bytes{300'000'000LL * 12});
  EXPECT_EQ(pricer.price(plan).stages[0].memory.optimizer, Bytes{300'000'000LL * 4});
}

TEST(Price, NothingIsLeftOfAnEarlierPlanInAnInvalidOne) {
  Pricer pricer(example_inputs());
  PricedPlan p;
  pricer.price(example_plan({{0, 1}, {2}}, 2, 1), p);
  Plan broken = example_plan({{0, 1}, {2}}, 2, 1);
  broken.parallelism.data_inner = 3;
  pricer.price(broken, p);
  EXPECT_EQ(p.status, PriceStatus::invalid);
  EXPECT_TRUE(p.stages.empty());
  EXPECT_EQ(p.predicted.step.value, 0);
}

TEST(Price, StagesThatDifferInStrategyKeepTheirOwnCosts) {
  PlanInputs inputs = example_inputs();
  auto& profile = std::get<LayerProfile>(inputs.source);
  ProfileStrategy context = profile.strategies.front();
  profile.strategies.front().tensor = 2;
  context.context = 2;
  for (ProfileLayer& layer : context.layers) layer.forward = Seconds{7e-3};
  profile.strategies.push_back(context);
  Plan plan = example_plan({{0, 1}, {2}}, 1, 1);
  plan.parallelism.strategy.tensor = 2;
  plan.stages[0].strategy.tensor = 2;
  plan.stages[1].strategy.context = 2;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_NEAR(p.stages[0].chunks[0].forward.value, 3e-3, kExact);
  EXPECT_NEAR(p.stages[1].chunks[0].forward.value, 7e-3, kExact);
  // Half of the tensor on each context rank, all of it on each tensor rank.
  EXPECT_EQ(p.stages[1].chunks[0].forward_bytes, Bytes{25'000'000});
  EXPECT_EQ(p.stages[0].chunks[0].backward_bytes, Bytes{50'000'000});
}

TEST(Price, ReasonsAreSentences) {
  Pricer pricer(example_inputs());
  const auto reason = [&](auto change) {
    Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
    change(plan);
    const PricedPlan p = pricer.price(plan);
    EXPECT_EQ(p.status, PriceStatus::invalid);
    return p.reason;
  };
  EXPECT_EQ(reason([](Plan& p) { p.training.precision = Precision::fp8; }), "x has no 8-bit matrix products");
  EXPECT_EQ(reason([](Plan& p) { p.training.sequence = 1024; }),
            "the layer profile holds for sequences of 512 tokens");
  EXPECT_EQ(reason([](Plan& p) {
              p.training.micro_batch = 2;
              p.training.micro_batches = 2;
            }),
            "the layer profile holds for micro-batches of 1");
  EXPECT_EQ(reason([](Plan& p) { p.stages[1].recompute.policy = RecomputePolicy::selective; }),
            "a layer profile does not know what selective recomputation keeps");
  EXPECT_EQ(reason([](Plan& p) {
              p.parallelism.strategy.tensor = 2;
              p.parallelism.data = p.parallelism.data_inner = 1;
              p.training.micro_batches = 8;
              for (Stage& s : p.stages) s.strategy = p.parallelism.strategy;
            }),
            "the layer profile has no costs for tensor 2");
  EXPECT_EQ(reason([](Plan& p) { p.parallelism.block_devices = 1; }),
            "the cells do not fit the cluster's domains, or a block of copies its 1 devices");
}

TEST(Price, TooMuchMemoryIsInfeasibleAndStillPriced) {
  PlanInputs inputs = example_inputs();
  ClusterParts parts = inputs.cluster.parts();
  parts.accelerator.memory = Bytes{1'000'000'000};
  Pricer pricer({inputs.model, inputs.source, Cluster(std::move(parts)), inputs.recipe});
  const PricedPlan p = pricer.price(example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_EQ(p.status, PriceStatus::infeasible);
  EXPECT_EQ(p.reason, "stage 0 needs 1.12 GiB, a device has 954 MiB: 191 MiB over");
  EXPECT_NEAR(p.predicted.step.value, 78.515e-3, kExact);
  const Plan written = with_results(example_plan({{0, 1}, {2}}, 2, 1), p);
  EXPECT_EQ(written.status, PlanStatus::infeasible);
  EXPECT_EQ(written.stages[1].memory->total(), Bytes{500'000'000});
}

TEST(Price, CellsThatCannotBePlacedAreAnError) {
  Pricer pricer(example_inputs());
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.parallelism.block_devices = 1;
  EXPECT_EQ(message_of([&] { static_cast<void>(pricer.place(plan)); }),
            "four: the plan's cells do not fit this cluster");
}

// 100 TB of stash for each of 100,000 micro-batches is more than 64 bits count, and more than any device has.
TEST(Price, MemoryBeyondSixtyThreeBitsDoesNotFit) {
  PlanInputs inputs = example_inputs();
  for (ProfileLayer& layer : std::get<LayerProfile>(inputs.source).strategies.front().layers)
    layer.activations = Bytes{100'000'000'000'000};
  Plan plan = example_plan({{0, 1, 2}}, 1, 1);
  plan.parallelism.schedule = Schedule::gpipe;
  plan.training.global_batch = plan.training.micro_batches = 100'000;
  const PricedPlan p = Pricer(std::move(inputs)).price(plan);
  EXPECT_EQ(p.status, PriceStatus::infeasible);
  EXPECT_GT(p.stages[0].memory.total().value, 0);
}

// A profile may hold layers of no time at all (a skeleton to be filled in): no infinities come out of it.
TEST(Price, AStepOfNoTimeHasNoInfinities) {
  PlanInputs inputs = example_inputs();
  for (ProfileLayer& layer : std::get<LayerProfile>(inputs.source).strategies.front().layers)
    layer.forward = layer.backward = Seconds{0};
  const Prediction p = Pricer(std::move(inputs)).price(example_plan({{0, 1, 2}}, 1, 1)).predicted;
  EXPECT_EQ(p.step.value, 0);
  for (const double rate :
       {p.tokens_per_s, p.samples_per_s, p.flops_per_device.value, p.mfu, p.bubble_fraction})
    EXPECT_TRUE(std::isfinite(rate));
}

}  // namespace
}  // namespace nest::price
