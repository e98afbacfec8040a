#include "nest/cluster/fewer_nodes.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/resize.hpp"

namespace nest::cluster {
namespace {

TEST(FewerNodes, TheLastRackIsSmaller) {
  const Cluster all = catalog_cluster("h100-spine-leaf");  // 8 x 4 x 32
  const Cluster fewer = without_nodes(all, 1);
  EXPECT_EQ(fewer.devices(), 1016);
  EXPECT_EQ(fewer.tree().domains(LevelId{1}), 32);
  EXPECT_EQ(fewer.tree().children(LevelId{1}, 31), 3);
  EXPECT_EQ(fewer.tree().children(LevelId{1}, 30), 4);
  EXPECT_EQ(without_nodes(all, 0).devices(), 1024);
  // A whole rack: what is left is even again.
  const Cluster rack = without_nodes(all, 4);
  EXPECT_EQ(rack.devices(), 992);
  EXPECT_EQ(rack.levels(), with_devices(all, 992).levels());
  EXPECT_EQ(without_nodes(all, 6).tree().domains(LevelId{1}), 31);
}

TEST(FewerNodes, OneAtATimeIsTheSame) {
  const Cluster all = with_devices(catalog_cluster("h100-spine-leaf"), 64);
  Cluster step = all;
  for (std::int64_t gone = 1; gone < 8; ++gone) {
    step = without_nodes(step, 1);
    EXPECT_EQ(step.levels(), without_nodes(all, gone).levels()) << gone;
    EXPECT_EQ(step.devices(), 64 - 8 * gone);
  }
  EXPECT_THROW((void)without_nodes(all, 8), InputError);
}

TEST(FewerNodes, AnyNumberOfDevices) {
  const Cluster racks = catalog_cluster("gb200-nvl72");
  const Cluster some = first_devices(racks, 256);
  EXPECT_EQ(some.devices(), 256);
  EXPECT_EQ(some.tree().domains(LevelId{0}), 4);
  EXPECT_EQ(some.tree().devices_in(LevelId{0}, 3), 40);
  const Cluster many = first_devices(racks, 10'000);
  EXPECT_EQ(many.devices(), 10'000);
  const Cluster even = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(first_devices(even, 64).devices(), 64);
  EXPECT_EQ(first_devices(even, 1024).levels(), even.levels());
  EXPECT_THROW((void)first_devices(catalog_cluster("tpu-v5e-256"), 100), InputError);
}

TEST(FewerNodes, SlicesAreNodes) {
  EXPECT_EQ(without_nodes(catalog_cluster("tpu-v5e-multislice"), 1).devices(), 7 * 256);
  EXPECT_THROW((void)without_nodes(catalog_cluster("tpu-v5e-256"), 1), InputError);
}

}  // namespace
}  // namespace nest::cluster
