#include <gtest/gtest.h>

#include "nest/price/test_stage_costs.hpp"

namespace nest::price {
namespace {

using test_stages::MegatronCosts;
using test_stages::StageCosts;

TEST_F(StageCosts, MemoryOfPlain) {
  const StageMemory m = coster_->memory(terms_, stage(), 0, 0, Bytes{7});
  EXPECT_EQ(m.weights, Bytes{600'000'000});
  EXPECT_EQ(m.gradients, Bytes{600'000'000});
  EXPECT_EQ(m.optimizer, Bytes{0});
  EXPECT_EQ(m.activations, Bytes{7});
  EXPECT_EQ(m.workspace, Bytes{0});
  EXPECT_EQ(m.fragmentation, Bytes{0});
  EXPECT_EQ(m.capacity, Bytes{80'000'000'000});
  EXPECT_EQ(coster_->allocatable(), m.capacity);
}

// 300 million parameters: 2 bytes of weights, 4 of gradients, 12 of master weights and moments.
TEST_F(MegatronCosts, MemoryUnderEachZero) {
  const auto memory = [&](std::int64_t zero) { return coster_->memory(terms_, stage(), zero, 0, Bytes{0}); };
  EXPECT_EQ(memory(0).weights, Bytes{600'000'000});
  EXPECT_EQ(memory(0).gradients, Bytes{1'200'000'000});
  EXPECT_EQ(memory(0).optimizer, Bytes{3'600'000'000});
  EXPECT_EQ(memory(1).gradients, Bytes{1'200'000'000});
  EXPECT_EQ(memory(1).optimizer, Bytes{1'800'000'000});
  EXPECT_EQ(memory(2).weights, Bytes{600'000'000});
  EXPECT_EQ(memory(2).gradients, Bytes{600'000'000});
  EXPECT_EQ(memory(3).weights, Bytes{300'000'000});
  EXPECT_EQ(memory(0).reserve, Bytes{2LL << 30});
  // 4 % of what is allocated; the reserve lies outside the allocator.
  EXPECT_EQ(memory(0).allocated(), Bytes{5'400'000'000});
  EXPECT_EQ(memory(0).fragmentation, Bytes{216'000'000});
  EXPECT_EQ(memory(0).total(), Bytes{5'616'000'000 + (2LL << 30)});
  EXPECT_EQ(coster_->on_device(Bytes{5'400'000'000}), memory(0).total());
  // The fp32 gradients of one layer under reduction; two gathered layers of 200 MB besides.
  EXPECT_EQ(memory(2).workspace, Bytes{400'000'000});
  EXPECT_EQ(memory(3).workspace, Bytes{800'000'000});
  EXPECT_EQ(coster_->memory(terms_, stage(), 0, 50e6, Bytes{0}).weights, Bytes{700'000'000});
}

// States lie with the host, 16 bytes a parameter; of gradients of 4 and weights of 2 bytes, the device holds those of the
// largest layer, 100 million parameters.
TEST_F(MegatronCosts, AnOffloadedOptimizerLeavesTheDevice) {
  inputs_.recipe = with_states(inputs_.recipe, {.offload = {.optimizer = true}});
  restart();
  const auto memory = [&](std::int64_t zero) { return coster_->memory(terms_, stage(), zero, 0, Bytes{0}); };
  EXPECT_EQ(memory(0).optimizer, Bytes{600'000'000});
  EXPECT_EQ(memory(0).host, Bytes{4'800'000'000});
  EXPECT_EQ(memory(1).optimizer, Bytes{300'000'000});
  EXPECT_EQ(memory(1).host, Bytes{2'400'000'000});
  EXPECT_EQ(memory(3).host, memory(1).host);
  EXPECT_EQ(memory(0).host_capacity, inputs_.cluster.accelerator().host().memory);
  EXPECT_EQ(memory(0).weights, Bytes{600'000'000});
  EXPECT_EQ(coster_->update(terms_, stage(), 0, 0), Bytes{0});
  const StageCost s = step(1);
  ASSERT_TRUE(s.offload.has_value());
  EXPECT_EQ(s.buckets, 3);
  EXPECT_EQ(s.optimizer, s.offload->total(3));
  EXPECT_NEAR(s.offload->update.value, 150e6 / inputs_.cluster.accelerator().host().update, 1e-12);
  EXPECT_GT(step(0).optimizer, s.optimizer);
}

}  // namespace
}  // namespace nest::price
