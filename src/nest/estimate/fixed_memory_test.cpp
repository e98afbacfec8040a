#include "nest/estimate/fixed_memory.hpp"

#include <gtest/gtest.h>

namespace nest {
namespace {

// Context and three communicators (tensor, pipeline, data) are what Megatron's recipe keeps back.
TEST(FixedMemory, MegatronsReserveIsWhatWasMeasured) {
  const Recipe megatron = named_recipe("megatron");
  const FixedMemory memory = fixed_memory(megatron, 3);
  EXPECT_EQ(memory.outside().value, std::int64_t{701 + 558 + 2 * 390} << 20);
  EXPECT_NEAR(static_cast<double>(memory.outside().value) / static_cast<double>(megatron.reserve.value), 1,
              0.01);
}

TEST(FixedMemory, OneDeviceAloneHasNoCommunicator) {
  EXPECT_EQ(fixed_memory(named_recipe("megatron"), 0).communicators.value, 0);
}

TEST(FixedMemory, DeepspeedHasBucketsAndPlainHasNothing) {
  EXPECT_EQ(fixed_memory(named_recipe("deepspeed"), 1).buckets.value, 2'000'000'000);
  EXPECT_EQ(fixed_memory(named_recipe("plain"), 8).on_device(Bytes{1000}).value, 1000);
}

TEST(FixedMemory, FragmentationGrowsWithWhatIsAllocated) {
  const FixedMemory memory = fixed_memory(named_recipe("megatron"), 0);
  EXPECT_EQ(memory.on_device(Bytes{100'000'000'000}).value - memory.context.value, 104'000'000'000);
}

}  // namespace
}  // namespace nest
