// What becomes of parameters that ZeRO 3 gathers, on the hand-priced example: three layers of 200 MB, four devices, 1.001 ms
// for each layer gathered from two ranks of a node.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "nest/plan/test_example.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {
namespace {

using Kind = Resharding::Kind;
constexpr Resharding kAlways{};
constexpr Resharding kNever{Kind::never, 0};

class ReshardingTest : public ::testing::Test {
 protected:
  explicit ReshardingTest(std::int64_t copies = 2, std::int64_t near = 0) : inputs_(test::example_inputs()) {
    inputs_.recipe.ideal_network = true;
    book_ = std::make_unique<CostBook>(inputs_);
    PlacementShape shape{.inner = copies};
    network_ = book_->network({}, shape, {.near = near});
    Training t;
    t.sequence = 512;
    table_ = &book_->table(t, Strategy{}, RecomputePolicy::none, network_->stages[0]);
    terms_ = table_->range(0, 3);
  }
  [[nodiscard]] StageCoster coster() const { return {inputs_.recipe, inputs_.cluster, book_->collectives()}; }
  [[nodiscard]] const StageNetwork& stage() const { return network_->stages[0]; }

  // The first layers, where the resharding names some.
  [[nodiscard]] std::optional<LayerTerms> first(const Resharding& r) const {
    if (r.kind != Kind::first) return std::nullopt;
    return table_->range(0, static_cast<std::size_t>(r.number));
  }
  [[nodiscard]] ChunkCost chunk(const Resharding& r, std::int64_t stages = 1) const {
    const auto kept = first(r);
    ChunkCost out;
    coster().chunk(terms_, stage(), {3, r}, Schedule::one_f_one_b, {stages, kept ? &*kept : nullptr}, out);
    return out;
  }
  [[nodiscard]] std::int64_t workspace(const Resharding& r, std::int64_t stages = 1) const {
    const auto kept = first(r);
    const LayerTerms* named = kept ? &*kept : nullptr;
    return coster().memory(terms_, stage(), {3, r}, 0, Bytes{0}, {stages, named}).workspace.value - kReduced;
  }
  [[nodiscard]] StageCost step(const Resharding& r, std::int64_t stages) const {
    const auto kept = first(r);
    StageCost out;
    out.chunks = {chunk(r, stages)};
    coster().step(terms_, stage(),
                  {.zero = {3, r}, .first = kept ? &*kept : nullptr, .shape = {stages, 4, 1}}, out);
    return out;
  }

  static constexpr std::int64_t kLayer = 200'000'000;
  static constexpr std::int64_t kReduced = kLayer;  // gradients of one layer on their way
  static constexpr double kGather = 1.001e-3;
  PlanInputs inputs_;
  std::unique_ptr<CostBook> book_;
  const PlanNetwork* network_ = nullptr;
  const LayerTable* table_ = nullptr;
  LayerTerms terms_;
};

TEST_F(ReshardingTest, AlwaysGathersBeforeBothPasses) {
  const ChunkCost c = chunk(kAlways);
  EXPECT_NEAR(c.forward_zero.value, 3 * kGather, 1e-12);
  EXPECT_NEAR(c.backward_zero.value, 6 * kGather, 1e-12);  // with the reduction
  EXPECT_EQ(chunk(kAlways, 2).forward_zero, c.forward_zero);
  EXPECT_TRUE(step(kAlways, 2).gathers.empty());
}

TEST_F(ReshardingTest, NeverGathersOnceAMicroBatchWithoutAPipeline) {
  EXPECT_NEAR(chunk(kNever).forward_zero.value, 3 * kGather, 1e-12);
  EXPECT_NEAR(chunk(kNever).backward_zero.value, 3 * kGather, 1e-12);
  EXPECT_TRUE(step(kNever, 1).gathers.empty());
}

TEST_F(ReshardingTest, NeverGathersOnceAStepUnderAPipeline) {
  EXPECT_EQ(chunk(kNever, 2).forward_zero.value, 0);
  EXPECT_NEAR(chunk(kNever, 2).backward_zero.value, 3 * kGather, 1e-12);
  const StageCost s = step(kNever, 2);
  ASSERT_EQ(s.gathers.size(), 1U);
  EXPECT_EQ(s.gathers[0].bytes, Bytes{3 * kLayer});
  EXPECT_NEAR(s.gather.value, 3.001e-3, 1e-12);  // of all layers at once
}

TEST_F(ReshardingTest, TheFirstLayersKeepTheirs) {
  const Resharding one{Kind::first, 1};
  EXPECT_NEAR(chunk(one).forward_zero.value, 3 * kGather, 1e-12);
  EXPECT_NEAR(chunk(one).backward_zero.value, 5 * kGather, 1e-12);
  EXPECT_NEAR(chunk(one, 2).forward_zero.value, 2 * kGather, 1e-12);
  EXPECT_EQ(step(one, 2).gathers.at(0).bytes, Bytes{kLayer});
  const Resharding all{Kind::first, 3};
  for (const std::int64_t stages : {1, 2}) {
    EXPECT_EQ(chunk(all, stages).backward_zero, chunk(kNever, stages).backward_zero);
    EXPECT_EQ(workspace(all, stages), workspace(kNever, stages));
  }
}

TEST_F(ReshardingTest, WhatStaysTakesMemory) {
  EXPECT_EQ(workspace(kAlways), 2 * kLayer);
  EXPECT_EQ(workspace(kNever), 3 * kLayer);
  EXPECT_EQ(workspace({Kind::first, 1}), 3 * kLayer);  // and two of the others
  EXPECT_EQ(workspace({Kind::first, 2}), 4 * kLayer);
}

TEST_F(ReshardingTest, LayersAreGatheredAhead) {
  inputs_.recipe.overlap.prefetch = 1;
  // Of 3 ms for 3 layers, two thirds of 4 ms of compute could hide more than the two thirds that may.
  EXPECT_NEAR(chunk(kAlways).forward_zero.value, kGather, 1e-12);
  inputs_.recipe.prefetch_layers = 2;
  EXPECT_NEAR(chunk(kAlways).forward_zero.value, kGather, 1e-12);
  EXPECT_EQ(workspace(kAlways), 3 * kLayer);
  inputs_.recipe.prefetch_layers = 0;
  EXPECT_NEAR(chunk(kAlways).forward_zero.value, 3 * kGather, 1e-12);
  EXPECT_EQ(workspace(kAlways), kLayer);
}

// torch's pipelines leave the reduction to the end of the step, and gradients whole until then.
TEST_F(ReshardingTest, GradientsAreReducedLateUnderAPipeline) {
  const auto gradients = [&](std::int64_t stages) {
    return coster().memory(terms_, stage(), 3, 0, Bytes{0}, {stages, nullptr}).gradients;
  };
  inputs_.recipe.late_reduces = true;
  EXPECT_EQ(gradients(1), Bytes{300'000'000});
  EXPECT_EQ(gradients(2), Bytes{600'000'000});
  EXPECT_NEAR(chunk(kNever).backward_zero.value, 3 * kGather, 1e-12);
  EXPECT_EQ(chunk(kNever, 2).backward_zero.value, 0);
  ASSERT_EQ(step(kNever, 2).reduces.size(), 1U);
  EXPECT_EQ(step(kNever, 2).reduces[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(step(kNever, 2).reduces[0].bytes, Bytes{600'000'000});
  EXPECT_TRUE(step(kNever, 1).reduces.empty());
}

class ReshardingToANode : public ReshardingTest {
 protected:
  ReshardingToANode() : ReshardingTest(4, 2) {}
};

// Four ranks in two nodes: the forward pass gathers over the slow links, the backward pass inside the nodes.
TEST_F(ReshardingToANode, TheBackwardPassGathersNearby) {
  const Resharding node{Kind::group, 2};
  EXPECT_EQ(stage().dense.near, 2);
  EXPECT_EQ(chunk(node).forward_zero, chunk(kAlways).forward_zero);
  const double slow = chunk(kAlways).forward_zero.value;
  EXPECT_GT(slow, 10 * kGather);
  EXPECT_NEAR(chunk(kAlways).backward_zero.value - chunk(node).backward_zero.value, slow - 3 * kGather,
              1e-12);
  // Two layers whole, and a half of three.
  EXPECT_EQ(workspace(node), 2 * kLayer + 3 * kLayer / 2);
}

}  // namespace
}  // namespace nest::price
