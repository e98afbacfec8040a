#include "nest/network/cells/rented.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::network {
namespace {

TEST(Rented, WholeNodes) {
  const Cluster cluster = cluster::catalog_cluster("h100-spine-leaf");  // nodes of 8
  RentedDevices rented(cluster);
  EXPECT_EQ(rented.total(), 0);
  rented.use(DeviceId{3});
  EXPECT_EQ(rented.total(), 8);
  rented.use(DeviceId{4}, 3);  // 4 to 7
  EXPECT_EQ(rented.total(), 8);
  rented.use(DeviceId{14}, 3);  // 14 to 17: the second and the third node
  EXPECT_EQ(rented.total(), 24);
}

TEST(Rented, LeastIsNeverAbove) {
  const Cluster cluster = cluster::catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(least_rented(cluster, 1), 8);
  EXPECT_EQ(least_rented(cluster, 8), 8);
  EXPECT_EQ(least_rented(cluster, 9), 16);
  // Cells of 6 leave two devices of every node idle: 5 cells rent 5 nodes, the least would be 4.
  const auto slots = place_cells(cluster.tree(), {.cell = 6, .stages = 5});
  ASSERT_TRUE(slots);
  EXPECT_EQ(rented_by(cluster, *slots), 40);
  EXPECT_EQ(least_rented(cluster, 30), 32);
}

TEST(Rented, SlicesOfAPod) {
  const Cluster pod = cluster::catalog_cluster("tpu-v5e-256");
  EXPECT_EQ(least_rented(pod, 33), 64);
  const Cluster pods = cluster::catalog_cluster("tpu-v5e-multislice");
  EXPECT_EQ(least_rented(pods, 300), 512);
  RentedDevices rented(pods);
  rented.use(DeviceId{0}, 299);  // 256 of the first slice, 44 of the second
  EXPECT_EQ(rented.total(), 512);
}

}  // namespace
}  // namespace nest::network
