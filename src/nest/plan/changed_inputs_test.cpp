#include "nest/plan/changed_inputs.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::plan {
namespace {

PlanInputs inputs(const std::string& cluster) {
  Warnings warnings;
  return load_inputs("llama3.1-8b", cluster, "megatron", warnings);
}

TEST(ChangedInputs, MoreBandwidthOfTheSameFabric) {
  const PlanInputs before = inputs("h100-spine-leaf");
  const PlanInputs after = with_bandwidth(before, LevelId{1}, 8);
  EXPECT_DOUBLE_EQ(after.cluster.levels()[1].bandwidth.value, 8 * before.cluster.levels()[1].bandwidth.value);
  EXPECT_EQ(after.cluster.levels()[0].bandwidth, before.cluster.levels()[0].bandwidth);
  // 400 GB/s is more than half of what NVLink has: without a word it would be taken for NVLink.
  EXPECT_EQ(after.constants().levels[1].name, before.constants().levels[1].name);
  EXPECT_EQ(after.constants().levels[1].name, "infiniband");
}

TEST(ChangedInputs, MoreMemory) {
  const PlanInputs after = with_memory(inputs("h100-spine-leaf"), Bytes{123});
  EXPECT_EQ(after.cluster.device_memory(), Bytes{123});
  EXPECT_EQ(after.model_name(), "llama3.1-8b");
}

TEST(ChangedInputs, AFasterHost) {
  const PlanInputs before = inputs("h100-spine-leaf");
  const HostShare slow = before.cluster.accelerator().host();
  const HostShare fast = with_host(before, 2).cluster.accelerator().host();
  EXPECT_DOUBLE_EQ(fast.link.value, 2 * slow.link.value);
  EXPECT_DOUBLE_EQ(fast.update, 2 * slow.update);
  EXPECT_EQ(fast.memory, slow.memory);
}

TEST(ChangedInputs, OneMoreNode) {
  const PlanInputs before = inputs("h100-spine-leaf");
  EXPECT_EQ(with_one_more_domain(before)->cluster.devices(), before.cluster.devices() + 8);
}

}  // namespace
}  // namespace nest::plan
