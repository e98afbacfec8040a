#include "nest/estimate/cell_network.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"

namespace nest {
namespace {

// Tensor 8 fills a node of 8: a ring all-reduce of 100 MB at 450 GB/s, 14 steps of 1 us.
TEST(CellNetwork, TensorGroupsStayInTheNode) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8});
  CollectiveShape c;
  c.forward = CollectiveKind::all_reduce;
  c.forward_bytes = Bytes{100'000'000};
  const double transfer = 2 * 7.0 / 8 * 100e6 / 450e9;
  EXPECT_GE(network.time(c, Direction::forward).value, transfer);
  EXPECT_LE(network.time(c, Direction::forward).value, transfer + 14e-6);
  EXPECT_EQ(network.time(c, Direction::backward).value, 0);
}

// Context 4 above tensor 8: each of the 8 tensor ranks talks to its peers in the other nodes over its own
// interface.
TEST(CellNetwork, ContextGroupsUseOneInterfacePerRank) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8, .context = 4});
  CollectiveShape c;
  c.forward = CollectiveKind::send;
  c.group = GroupAxis::context;
  c.forward_bytes = Bytes{50'000'000};
  c.repeats = 3;
  EXPECT_NEAR(network.time(c, Direction::forward).value, 3 * (50e6 / 50e9 + 5e-6), 1e-9);
}

// Cells of 12 devices over nodes of 8: the tensor group {6, 7, 8} crosses a node, and the slowest group
// counts.
TEST(CellNetwork, AGroupThatStraddlesANodeIsPricedSo) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  CollectiveShape c;
  c.forward = CollectiveKind::all_gather;
  c.forward_bytes = Bytes{12'000'000};
  const CellNetwork straddles(cluster, ideal_constants(cluster), {.tensor = 3, .context = 4});
  EXPECT_GT(straddles.groups(GroupAxis::tensor).size(), 1U);
  EXPECT_GT(straddles.time(c, Direction::forward).value, 2.0 / 3 * 12e6 / 50e9 / 2);
  // Six devices fit in a node of 8: the next cell moves to the next node.
  const CellNetwork moved(cluster, ideal_constants(cluster), {.tensor = 6});
  EXPECT_LT(moved.time(c, Direction::forward).value, 5.0 / 6 * 12e6 / 450e9 + 10e-6);
}

TEST(CellNetwork, ACellMustFit) {
  const Cluster cluster = catalog_cluster("pcie-workstation");
  try {
    const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8});
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "pcie-workstation: a cell of 8 devices (tensor 8) does not fit its 4 devices");
  }
}

TEST(UsualCluster, IsANodeOfEightAndItsNetwork) {
  const Cluster cluster = usual_cluster(find_accelerator("h200"));
  EXPECT_EQ(cluster.devices(), 1024);
  EXPECT_DOUBLE_EQ(cluster.levels()[0].bandwidth.value, 450e9);
}

}  // namespace
}  // namespace nest
