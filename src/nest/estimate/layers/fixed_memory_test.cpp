#include "nest/estimate/layers/fixed_memory.hpp"

#include <gtest/gtest.h>

namespace nest::estimate {
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

TEST(FixedMemory, AllocatableIsTheMostThatFits) {
  for (const double share : {0.0, 0.04, 0.1, 1.0}) {
    for (const std::int64_t room : {1LL, 2LL, 25LL, 26LL, 27LL, 1'000'003LL, 85'520'809'984LL}) {
      const Bytes most = allocatable_in(Bytes{room}, share);
      const Bytes more = most + Bytes{1};
      EXPECT_LE((most + fragmentation_of(most, share)).value, room) << share;
      EXPECT_GT((more + fragmentation_of(more, share)).value, room) << share;
    }
  }
  EXPECT_EQ(allocatable_in(Bytes{26}, 0.04).value, 25);
  EXPECT_EQ(allocatable_in(Bytes{-5}, 0.04).value, -5);  // the reserve alone is too large: nothing fits
}

}  // namespace
}  // namespace nest::estimate
