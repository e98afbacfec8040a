#include "nest/validate/runs/run_cluster.hpp"

#include <gtest/gtest.h>

#include "nest/estimate/collectives/fabric.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

TEST(RunCluster, NodesAndANetwork) {
  const RunCluster two = run_cluster(made_up_run());
  ASSERT_TRUE(two.cluster) << two.why_not;
  EXPECT_EQ(two.cluster->devices(), 16);
  ASSERT_EQ(two.cluster->levels().size(), 2U);
  EXPECT_EQ(two.cluster->levels()[0].bandwidth.value, 450e9);
  EXPECT_TRUE(two.cluster->levels()[0].in_network_reduction);
  EXPECT_EQ(two.cluster->levels()[1].bandwidth.value, 50e9);
}

TEST(RunCluster, TheAcceleratorsUsualWhereTheRowIsSilent) {
  RunRow row = made_up_run();
  row.accelerator = "a100-80";
  row.devices_per_node.reset();
  row.intra_gb_per_s.reset();
  row.inter_gb_per_s.reset();
  const Cluster cluster = *run_cluster(row).cluster;
  EXPECT_EQ(cluster.levels()[0].fan_out.size, 8);
  EXPECT_EQ(cluster.levels()[0].bandwidth.value, 300e9);
  EXPECT_EQ(cluster.levels()[1].bandwidth.value, 25e9);
  EXPECT_FALSE(cluster.levels()[0].in_network_reduction);
}

TEST(RunCluster, FewDevicesAndRacks) {
  RunRow row = made_up_run();
  row.devices = 3;
  EXPECT_EQ(run_cluster(row).cluster->levels().size(), 1U);
  row.accelerator = "gb200";
  row.devices = 256;
  EXPECT_EQ(run_cluster(row).cluster->levels()[0].fan_out.size, 64);
  row.devices = 12;
  row.accelerator = "h100-sxm";
  EXPECT_EQ(run_cluster(row).why_not, "12 devices are no whole number of nodes of 8");
}

TEST(RunCluster, NetworksKeepTheirConstants) {
  RunRow row = made_up_run();
  row.network = "Omni-Path, 4 links";
  EXPECT_EQ(fabric_constants(*run_cluster(row).cluster).levels[1].name, "omni-path");
  row.network = "RoCE";
  EXPECT_EQ(fabric_constants(*run_cluster(row).cluster).levels[1].name, "infiniband");
}

TEST(RunCluster, Slices) {
  RunRow row = made_up_run();
  row.accelerator = "tpu-v5p";
  row.devices = 128;
  const Cluster slice = *run_cluster(row).cluster;
  EXPECT_EQ(slice.levels()[0].dims, (std::vector<std::int32_t>{4, 4, 8}));
  row.accelerator = "tpu-v5e";
  row.devices = 512;
  const RunCluster two = run_cluster(row);
  EXPECT_EQ(two.cluster->levels().size(), 2U);
  EXPECT_EQ(two.slice, 256);
  row.id = "x_4x64";
  row.network = "DCN between slices";
  row.accelerator = "tpu-v4";
  row.devices = 256;
  row.inter_gb_per_s.reset();
  EXPECT_EQ(run_cluster(row).why_not, "the network between slices of tpu-v4 is not known");
}

TEST(RunCluster, UnknownAccelerators) {
  RunRow row = made_up_run();
  row.accelerator = "abacus";
  EXPECT_EQ(run_cluster(row).why_not, "the accelerator 'abacus' is not known");
  row.accelerator.clear();
  EXPECT_EQ(run_cluster(row).why_not, "the accelerator is not stated");
}

}  // namespace
}  // namespace nest::validate
