#include "nest/solve/baselines/alpa/alpa_mesh.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nest/cluster/cluster_file.hpp"

namespace nest::solve::alpa {
namespace {

TwoLevelMesh mesh_of(const std::string& levels) {
  return two_level_mesh(read_cluster(parse_yaml(
      "cluster",
      "name: c\naccelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}\n"
      "levels:\n" +
          levels)));
}

constexpr const char* kThree =
    "  - {name: node, kind: switch, size: 4, bandwidth: 100 GB/s, latency: 1 us}\n"
    "  - {name: rack, kind: switch, size: 2, bandwidth: 20 GB/s, latency: 5 us, oversubscription: 2}\n"
    "  - {name: spine, kind: switch, size: 2, bandwidth: 1 GB/s, latency: 50 us}\n";

std::vector<std::int64_t> submesh_sizes(const TwoLevelMesh& mesh) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1; n <= mesh.devices; ++n) {
    if (is_submesh(mesh, n)) sizes.push_back(n);
  }
  return sizes;
}

TEST(AlpaMesh, DoesNotKnowTheThirdLevel) {
  const TwoLevelMesh mesh = mesh_of(kThree);
  EXPECT_EQ(mesh.node, 4);
  EXPECT_EQ(mesh.devices, 16);
  EXPECT_DOUBLE_EQ(mesh.inside.bandwidth.value, 100e9);
  EXPECT_DOUBLE_EQ(mesh.between.bandwidth.value, 10e9);
  EXPECT_DOUBLE_EQ(mesh.axis(16, 1).link.bandwidth.value, 10e9);
  EXPECT_DOUBLE_EQ(mesh.axis(4, 1).link.bandwidth.value, 100e9);
  EXPECT_DOUBLE_EQ(mesh.axis(2, 4).link.bandwidth.value, 10e9);
}

TEST(AlpaMesh, HasOneNetworkWhereThereIsOneLevel) {
  const TwoLevelMesh mesh =
      mesh_of("  - {name: node, kind: switch, size: 6, bandwidth: 100 GB/s, latency: 1 us}\n");
  EXPECT_DOUBLE_EQ(mesh.between.bandwidth.value, mesh.inside.bandwidth.value);
  EXPECT_EQ(submesh_sizes(mesh), (std::vector<std::int64_t>{1, 2, 3, 6}));
}

TEST(AlpaMesh, SubmeshesArePartsOfANodeOrWholeNodes) {
  EXPECT_EQ(submesh_sizes(mesh_of(kThree)), (std::vector<std::int64_t>{1, 2, 4, 8, 12, 16}));
}

// 4 members, 1 us and 100 GB/s: a ring of 3 steps, each with a quarter of 400 MB.
TEST(AlpaMesh, RingsTakeOneStepForEachOtherMember) {
  const MeshAxis axis = mesh_of(kThree).axis(4, 1);
  EXPECT_NEAR(axis.all_gather(400e6).value, 3e-6 + 3e-3, 1e-12);
  EXPECT_NEAR(axis.all_reduce(400e6).value, 2 * (3e-6 + 3e-3), 1e-12);
  EXPECT_DOUBLE_EQ(mesh_of(kThree).axis(1, 1).all_reduce(400e6).value, 0);
}

}  // namespace
}  // namespace nest::solve::alpa
