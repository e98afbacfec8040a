#include "nest/estimate/kernels/optimizer_time.hpp"

#include <gtest/gtest.h>

#include "nest/estimate/operators/test_operator_layers.hpp"

namespace nest::estimate {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;

const Accelerator& h200() {
  return find_accelerator("h200");
}

// Main gradients of 4 bytes are read and written where the product wrote 2: 6 bytes more, at 85 % of 4.8
// TB/s.
TEST(GradientAccumulation, IntoMainGradients) {
  const Recipe megatron = named_recipe("megatron");
  EXPECT_EQ(accumulated_bytes(megatron), 6);
  EXPECT_NEAR(gradient_accumulation(kBillion, megatron, h200()).value, 6e9 / (0.85 * 4.8e12), 1e-6);
  Recipe half = megatron;
  half.gradient_dtype = StateDType::bf16;
  EXPECT_EQ(accumulated_bytes(half), 2);
}

// torchtitan casts 2 bytes to 4 for the reduction, DeepSpeed copies 2 into its bucket; prices by hand have
// neither.
TEST(GradientAccumulation, IntoTheBufferThatIsReduced) {
  EXPECT_EQ(accumulated_bytes(named_recipe("torchtitan")), 6);
  EXPECT_EQ(accumulated_bytes(named_recipe("deepspeed")), 4);
  EXPECT_EQ(accumulated_bytes(named_recipe("plain")), 0);
  EXPECT_EQ(gradient_accumulation(kBillion, named_recipe("plain"), h200()).value, 0);
}

// Gradient 4, master copy 4 and two states 8 are read, master copy and states written; then the master copy
// is read and the 16-bit weight written.
TEST(OptimizerTime, MovesTheRecipesBytes) {
  EXPECT_EQ(updated_bytes(named_recipe("megatron")), 4 + 4 + 8 + 4 + 8);
  EXPECT_EQ(copied_bytes(named_recipe("megatron")), 4 + 2);
  EXPECT_EQ(updated_bytes(named_recipe("torchtitan")), 4 + 4 + 8 + 4 + 8);
  EXPECT_EQ(copied_bytes(named_recipe("torchtitan")), 0);
  EXPECT_EQ(updated_bytes(named_recipe("deepspeed")), 2 + 4 + 8 + 4 + 8);
  Recipe sgd = named_recipe("megatron");
  sgd.optimizer = Optimizer::sgd;
  EXPECT_EQ(updated_bytes(sgd), 4 + 4 + 4);
  sgd.momentum = true;
  EXPECT_EQ(updated_bytes(sgd), 4 + 8 + 8);
  EXPECT_LT(optimizer_time(kBillion, sgd, h200()),
            optimizer_time(kBillion, named_recipe("megatron"), h200()));
}

TEST(OptimizerTime, IsNothingWhereTheRecipeSaysSo) {
  EXPECT_EQ(optimizer_time(kBillion, named_recipe("plain"), h200()).value, 0);
  EXPECT_EQ(norm_time(kBillion, named_recipe("plain"), h200()).value, 0);
  EXPECT_EQ(optimizer_time(0, named_recipe("megatron"), h200()).value, 0);
  EXPECT_EQ(norm_time(0, named_recipe("megatron"), h200()).value, 0);
}

// ZeRO-1 updates an eighth of the parameters and zeroes all gradients.
TEST(OptimizerTime, ZeroesWhatTheDeviceHolds) {
  const Recipe megatron = named_recipe("megatron");
  const double own = optimizer_time(kBillion, megatron, h200()).value;
  const double sharded = optimizer_time(kBillion / 8, megatron, h200(), kBillion).value;
  EXPECT_GT(sharded, own / 8 + 0.8 * 4e9 / 4.8e12);
  EXPECT_LT(sharded, own / 4);
}

// The profile's training steps end with a fused Adam on master weights, their copy back and the zeroing of
// main gradients, or with a fused Adam on bf16 weights alone.
TEST(OptimizerTime, AgreesWithMeasuredSteps) {
  Recipe half = named_recipe("deepspeed");
  half.master_weights = false;
  half.optimizer_dtype = StateDType::bf16;
  for (const test::MeasuredStep& step : test::measured_steps("h200")) {
    const Recipe recipe = step.variant == "master" ? named_recipe("megatron") : half;
    EXPECT_NEAR(optimizer_time(step.parameters, recipe, h200()).value / step.optimizer_s, 1, 0.08)
        << step.model << " " << step.variant;
  }
}

// 1e9 gradients of 4 bytes: 1.214 ms measured.
TEST(NormTime, ReadsTheGradients) {
  EXPECT_NEAR(norm_time(kBillion, named_recipe("megatron"), h200()).value, 1.214e-3, 0.05e-3);
  EXPECT_LT(norm_time(kBillion, named_recipe("deepspeed"), h200()),
            norm_time(kBillion, named_recipe("megatron"), h200()));
}

// A billion parameters: gradients of 4 bytes go out at 0.916 x 55.1 GB/s, weights of 2 come back, and 4.14e9 are updated in
// a second, which takes longest; in ten parts a tenth of both copies shows.
TEST(HostUpdate, TheLongestOfThreeAndOneBucketOfTheOthers) {
  const Recipe megatron = named_recipe("megatron");
  const HostUpdate u = host_update(kBillion, megatron, h200().host(), device_rates(h200()), kBillion);
  EXPECT_NEAR(u.out.value, 4e9 / (0.916 * 55.1e9), 1e-9);
  EXPECT_NEAR(u.back.value, 2e9 / (0.916 * 55.1e9), 1e-9);
  EXPECT_NEAR(u.update.value, 1e9 / 4.14e9, 1e-9);
  EXPECT_NEAR(u.total(1).value, (u.out + u.update + u.back + u.zeroing).value, 1e-12);
  EXPECT_NEAR(u.total(10).value, (u.update + u.zeroing).value + 0.1 * (u.out + u.back).value, 1e-12);
  // Gradients of ZeRO 1 are zeroed whole, on the device.
  EXPECT_EQ(u.zeroing.value > 0, megatron.zeroed_gradients);
  EXPECT_EQ(host_update(kBillion, named_recipe("plain"), h200().host(), device_rates(h200()), kBillion)
                .total(1)
                .value,
            0);
}

}  // namespace
}  // namespace nest::estimate
