#include "nest/price/stage_cost.hpp"

#include <gtest/gtest.h>

#include "nest/price/test_stage_costs.hpp"

namespace nest::price {
namespace {

using test_stages::MegatronCosts;
using test_stages::StageCosts;

TEST_F(StageCosts, AChunkIsTheSumOfItsLayers) {
  const ChunkCost c = chunk(0);
  EXPECT_NEAR(c.forward_work().value, 4e-3, 1e-15);
  EXPECT_NEAR(c.backward_work().value, 8e-3, 1e-15);
  EXPECT_NEAR(c.backward_weight.value, 4e-3, 1e-15);
  EXPECT_EQ(c.stash, Bytes{300'000'000});
  EXPECT_EQ(c.forward_zero.value, 0);
  EXPECT_EQ(chunk(1).backward_zero.value, 0);
}

// What a pass shows alone belongs to schedules with pairs; a chunk that was one of theirs forgets it.
TEST_F(StageCosts, ExchangesOfPairsShowAloneUnderSchedulesOfPairsOnly) {
  terms_.of(Term::forward_expert) = 1e-3;
  terms_.of(Term::forward_alone) = 2e-3;
  ChunkCost out;
  coster_->chunk(terms_, stage(), 0, Schedule::dualpipe_v, out);
  EXPECT_NEAR(out.forward_collectives.expert.value, 3e-3, 1e-15);
  EXPECT_NEAR(out.forward_beside.value, 2e-3, 1e-15);
  EXPECT_NEAR((out.forward_work() - out.least_forward_work()).value, 2e-3, 1e-15);
  coster_->chunk(terms_, stage(), 0, Schedule::zb_v, out);
  EXPECT_NEAR(out.forward_collectives.expert.value, 1e-3, 1e-15);
  EXPECT_EQ(out.forward_beside.value, 0);
}

TEST_F(StageCosts, ReceivesHideBehindWorkWhereTheRecipeLetsThem) {
  const Bytes bytes{100'000'000};  // 1.001 ms in a node
  const Shapes& pair = stage().dense.whole;
  EXPECT_NEAR(coster_->receive(bytes, pair, Seconds{1}, Schedule::one_f_one_b).value, 1.001e-3, 1e-12);
  EXPECT_EQ(coster_->receive(Bytes{0}, pair, Seconds{1}, Schedule::one_f_one_b).value, 0);
  EXPECT_EQ(coster_->receive(bytes, {}, Seconds{1}, Schedule::one_f_one_b).value, 0);
  inputs_.recipe.overlap.pipeline = 0.5;
  restart();
  EXPECT_NEAR(coster_->receive(bytes, stage().dense.whole, Seconds{1}, Schedule::one_f_one_b).value,
              0.5005e-3, 1e-12);
  EXPECT_NEAR(coster_->receive(bytes, stage().dense.whole, Seconds{1e-4}, Schedule::one_f_one_b).value,
              0.901e-3, 1e-12);
  inputs_.recipe.overlap.slow_down = 0.1;
  restart();
  EXPECT_NEAR(coster_->receive(bytes, stage().dense.whole, Seconds{1}, Schedule::one_f_one_b).value,
              0.5005e-3 * 1.1, 1e-12);
}

TEST_F(StageCosts, GradientsHideBehindTheLastBackwardPass) {
  EXPECT_NEAR(step(0).reduce.value, 6.002e-3, 1e-12);
  inputs_.recipe.overlap.gradient_reduce = 1;
  restart();
  // In three buckets: the last has nothing left to hide behind, 8 ms hide the others.
  EXPECT_NEAR(step(0).reduce.value, 6.002e-3 / 3, 1e-12);
  EXPECT_EQ(step(0).buckets, 3);
  inputs_.recipe.overlap.slow_down = 0.2;
  restart();
  EXPECT_NEAR(step(0).slow_down.value, 0.2 * 6.002e-3 * 2 / 3, 1e-12);
}

// FSDP2 copies 2 bytes of each parameter out of gathered buffers, twice, and gradients into reduced ones.
TEST_F(StageCosts, CopiesOfShardsTakeMemoryTime) {
  const ChunkCost before = chunk(3);
  inputs_.recipe.copied_shards = true;
  restart();
  const ChunkCost after = chunk(3);
  const double forward = (after.forward_zero - before.forward_zero).value;
  EXPECT_GT(forward, 0);
  // Out: read and written, 2 bytes. In: read in 16 bits, and written as they are reduced, in 16 bits too.
  EXPECT_NEAR((after.backward_zero - before.backward_zero).value / forward, (2 * 2 + 2 + 2) / (2 * 2.0),
              1e-9);
  EXPECT_EQ(chunk(2).forward_zero, Seconds{0});
}

TEST_F(StageCosts, OnlyMoreThanANodeWaitsForTheSlowest) {
  EXPECT_EQ(coster_->waiting(1024), 1);
  inputs_.recipe.jitter = 0.02;
  restart();
  EXPECT_EQ(coster_->waiting(8), 1);
  EXPECT_NEAR(coster_->waiting(1024), 1.036, 0.002);
}

// A share of a half lets half of the reduction hide; there are 8 ms to hide 3 ms behind.
TEST_F(StageCosts, AShareIsOfTheCollectiveNotOfTheCompute) {
  inputs_.recipe.overlap.gradient_reduce = 0.5;
  restart();
  EXPECT_NEAR(step(0).reduce.value, 3.001e-3, 1e-12);
}

TEST_F(StageCosts, TiedWeightsAreSummedLastAndHideNowhere) {
  inputs_.recipe.overlap.gradient_reduce = 1;
  restart();
  const StageCost plain = step(0);
  const StageCost tied = step(0, 0, 40e6);  // 80 MB over the pair: 0.802 ms
  EXPECT_NEAR(tied.reduce.value - plain.reduce.value, 0.802e-3, 1e-12);
  EXPECT_EQ(tied.reduces.back().group, StepCollective::Group::tied);
  // A copy of another stage's weight is reduced over the data-parallel group as well.
  const StageCost copy = step(0, 40e6, 40e6);
  EXPECT_EQ(copy.reduces.front().bytes, Bytes{680'000'000});
}

TEST_F(StageCosts, PlainHasNoOptimizerTime) {
  EXPECT_EQ(step(0).optimizer.value, 0);
  EXPECT_EQ(step(0).norm.value, 0);
}

TEST_F(MegatronCosts, ShardsMakeTheOptimizerFaster) {
  EXPECT_GT(step(0).optimizer.value, 0);
  EXPECT_LT(step(1).optimizer.value, 0.9 * step(0).optimizer.value);
  EXPECT_LT(step(1).norm.value, step(0).norm.value);
  EXPECT_LE(step(2).optimizer.value, step(1).optimizer.value);
}

// Gradients are reduced in fp32 (1.2 GB), parameters gathered in 16 bit (600 MB).
TEST_F(MegatronCosts, ReducesInFp32AndGathersIn16Bit) {
  const StageCost s = step(1);
  ASSERT_EQ(s.reduces.size(), 1U);
  EXPECT_EQ(s.reduces[0].bytes, Bytes{1'200'000'000});
  ASSERT_EQ(s.gathers.size(), 1U);
  EXPECT_EQ(s.gathers[0].bytes, Bytes{600'000'000});
  EXPECT_TRUE(step(3).gathers.empty());
}

TEST(StageCost, SumsOverChunks) {
  StageCost stage;
  stage.chunks.resize(2);
  stage.chunks[0].forward = Seconds{1};
  stage.chunks[0].forward_receive = Seconds{0.25};
  stage.chunks[1].forward = Seconds{2};
  stage.chunks[1].backward_input = Seconds{3};
  stage.chunks[1].backward_weight = Seconds{1};
  stage.chunks[1].recompute = Seconds{2};
  stage.chunks[1].backward_collectives.tensor = Seconds{0.5};
  stage.chunks[1].backward_zero = Seconds{0.125};
  EXPECT_EQ(stage.f().value, 3.25);
  EXPECT_EQ(stage.b().value, 6.625);
  const StageTime t = stage.time();
  EXPECT_EQ(t.forward.value, 3);
  EXPECT_EQ(t.backward.value, 4);
  EXPECT_EQ(t.recompute.value, 2);
  EXPECT_EQ(t.tensor.value, 0.5);
  EXPECT_EQ(t.pipeline.value, 0.25);
  EXPECT_EQ(t.zero.value, 0.125);
  EXPECT_EQ(t.total().value, 3.25 + 6.625);
}

// A forward pass of 3 s, of whose exchanges 2 s may hide, beside a backward pass of 1.5 s, of whose exchanges 4 s may:
// as much hides as the other pass computes. What is computed again hides nothing.
TEST(StageCost, APairSavesWhatTheOtherPassHides) {
  ChunkCost a;
  a.forward = Seconds{3};
  a.forward_collectives.expert = Seconds{2.5};
  a.forward_beside = Seconds{2};
  ChunkCost b;
  b.backward_input = Seconds{1};
  b.backward_weight = Seconds{0.5};
  b.recompute = Seconds{7};
  b.backward_collectives.expert = Seconds{5};
  b.backward_receive = Seconds{0.25};
  b.backward_beside = Seconds{4};
  EXPECT_DOUBLE_EQ(saved_in_pair(a, b).value, 1.5 + 3);
  EXPECT_DOUBLE_EQ(saved_in_pair(b, a).value, 0);
  std::vector<StagePass> passes;
  add_passes({a, b}, Schedule::dualpipe_v, passes);
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_DOUBLE_EQ(passes[0].pair, 5.5 + (1.5 + 7 + 5 + 0.25) - 4.5);
  EXPECT_DOUBLE_EQ(passes[1].pair, 0);
  passes.clear();
  add_passes({a, b}, Schedule::zb_v, passes);
  EXPECT_EQ(passes[0].pair, 0);
  StageCost stage;
  stage.chunks = {a, b};
  stage.chunks[0].paired = 0.5;
  EXPECT_DOUBLE_EQ(stage.saved().value, 2.25);
  EXPECT_DOUBLE_EQ(stage.time().expert.value, 2.5 + 5 - 2.25);
}

TEST(StageCost, MemoryHoldsWhatTwoPassesNeedAtOnce) {
  LayerTerms chunk;
  chunk.of(Term::stash) = 5;
  chunk.transient = 2;
  chunk.largest_parameters = 3;
  for (const bool at_once : {false, true}) {
    LayerTerms stage;
    add_chunk(chunk, at_once, stage);
    add_chunk(chunk, at_once, stage);
    EXPECT_EQ(stage.of(Term::stash), 10);
    EXPECT_EQ(stage.transient, at_once ? 4 : 2);
    EXPECT_EQ(stage.largest_parameters, at_once ? 6 : 3);
  }
}

// docs/decisions/0009-charged-or-deleted.md: 8 ranks of a node sum the gradients of their norms once, in the
// gradients' dtype, when everything else is reduced.
TEST(PartialGradients, AreSummedOverTheTensorGroup) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  inputs.recipe.ideal_network = true;
  CostBook book(inputs);
  const StageCoster coster(inputs.recipe, inputs.cluster, book.collectives());
  Training t;
  t.sequence = 2048;
  const auto step = [&](const Strategy& s) {
    const PlanNetwork* network = book.network(s, {.cell = s.cell(), .inner = 1}, {});
    const LayerTerms terms = book.table(t, s, RecomputePolicy::none, network->stages[0]).range(0, 34);
    StageCost out;
    out.chunks.resize(1);
    coster.chunk(terms, network->stages[0], 0, Schedule::one_f_one_b, out.chunks.front());
    coster.step(terms, network->stages[0], {}, out);
    return out;
  };
  const StageCost with = step({.tensor = 8, .sequence_parallel = true});
  ASSERT_EQ(with.reduces.size(), 1U);  // one copy: nothing else to reduce
  const StepCollective& sum = with.reduces.front();
  EXPECT_EQ(sum.group, StepCollective::Group::replicated);
  EXPECT_EQ(sum.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(sum.bytes.value, 65 * 4096 * 4);  // two norms a block and the last one, in fp32
  EXPECT_GT(sum.time.value, 2 * 7.0 / 8 * 65 * 4096 * 4 / 450e9 * 0.99);
  EXPECT_EQ(with.reduce, sum.time);
  EXPECT_EQ(with.reduce_alone, sum.time);
  EXPECT_TRUE(step({.tensor = 8}).reduces.empty());
  EXPECT_TRUE(step({}).reduces.empty());
}

}  // namespace
}  // namespace nest::price
