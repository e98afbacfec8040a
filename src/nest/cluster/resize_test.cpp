#include "nest/cluster/resize.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::cluster {
namespace {

std::vector<std::int32_t> sizes(const Cluster& c) {
  std::vector<std::int32_t> out;
  for (const Level& level : c.levels()) out.push_back(level.fan_out.size);
  return out;
}

std::string error_of(const Cluster& c, std::int64_t n) {
  try {
    (void)with_devices(c, n);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

using Sizes = std::vector<std::int32_t>;

TEST(WithDevices, SetsTheOutermostSize) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(sizes(with_devices(c, 2048)), (Sizes{8, 4, 64}));
  EXPECT_EQ(sizes(with_devices(c, 64)), (Sizes{8, 4, 2}));
  EXPECT_EQ(sizes(with_devices(c, 32)), (Sizes{8, 4, 1}));
  EXPECT_EQ(with_devices(c, 96).devices(), 96);
}

TEST(WithDevices, CutsAnInnerLevelWhereNIsLessThanOneOuterChild) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(sizes(with_devices(c, 24)), (Sizes{8, 3, 1}));
  EXPECT_EQ(sizes(with_devices(c, 6)), (Sizes{6, 1, 1}));
  EXPECT_EQ(sizes(with_devices(c, 1)), (Sizes{1, 1, 1}));
}

TEST(WithDevices, NamesTheNearestNumbersThatFit) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(error_of(c, 100),
            "h100-spine-leaf: 100 devices do not fit its levels; the nearest numbers that do are 96 and 128");
  EXPECT_EQ(error_of(c, 9),
            "h100-spine-leaf: 9 devices do not fit its levels; the nearest numbers that do are 8 and 16");
  EXPECT_EQ(error_of(c, 0), "h100-spine-leaf: 0 devices: at least 1 is expected");
  EXPECT_EQ(error_of(c, 20'000'000),
            "h100-spine-leaf: 20,000,000 devices are more than the 16,777,216 that a cluster may have");
}

TEST(WithDevices, EverythingThatIsNamedFits) {
  const Cluster c = catalog_cluster("dgx-a100-superpod");
  for (std::int64_t n = 1; n < 600; ++n) {
    const bool fits = n % 160 == 0 || (n % 8 == 0 && n / 8 <= 20) || n <= 8;
    if (fits) {
      EXPECT_EQ(with_devices(c, n).devices(), n);
    } else {
      EXPECT_THROW((void)with_devices(c, n), InputError) << n;
    }
  }
}

TEST(WithDevices, ATorusKeepsItsDimensions) {
  const Cluster slice = catalog_cluster("tpu-v5p-256");
  EXPECT_EQ(with_devices(slice, 128).devices(), 128);
  EXPECT_EQ(error_of(slice, 64),
            "tpu-v5p-256: 64 devices do not fit its levels; its outermost level is a torus of fixed "
            "dimensions; the "
            "nearest number that does is 128");
  const Cluster slices = catalog_cluster("tpu-v5e-multislice");
  EXPECT_EQ(sizes(with_devices(slices, 512)), (Sizes{256, 2}));
  EXPECT_EQ(
      error_of(slices, 300),
      "tpu-v5e-multislice: 300 devices do not fit its levels; the nearest numbers that do are 256 and 512");
}

TEST(WithDevices, UnevenTreesKeepTheirDomains) {
  const Cluster c = catalog_cluster("dgx-h100-superpod-127");
  EXPECT_EQ(c.devices(), 1016);
  EXPECT_EQ(sizes(with_devices(c, 248)), (Sizes{8, 31, 1}));
  EXPECT_EQ(
      error_of(c, 512),
      "dgx-h100-superpod-127: 512 devices do not fit its levels; the children of its outermost level differ, "
      "so it is not clear what another one would look like; the nearest numbers that do are 256 and 1,016");
}

TEST(WithDevices, AnUnevenPatternThatRepeatsIsRepeated) {
  const Cluster c = read_cluster(parse_document("x.yaml", R"(
name: pattern
accelerator: h100-sxm
levels:
  - {name: node, sizes: [4, 8, 4, 8], bandwidth: 450 GB/s, latency: 1 us}
  - {name: rack, size: 2, bandwidth: 50 GB/s, latency: 5 us}
  - {name: pod, size: 2, bandwidth: 50 GB/s, latency: 9 us}
)"));
  const Cluster more = with_devices(c, 36);
  EXPECT_EQ(more.levels()[0].fan_out.sizes, (Sizes{4, 8, 4, 8, 4, 8}));
  EXPECT_EQ(more.devices(), 36);
  EXPECT_EQ(error_of(c, 30),
            "pattern: 30 devices do not fit its levels; the nearest numbers that do are 24 and 36");
}

TEST(WithDevices, AFullyConnectedLevelThatShrinksKeepsItsLinks) {
  const Cluster four = with_devices(catalog_cluster("mi300x-roce"), 4);
  EXPECT_EQ(four.levels()[0].fan_out.size, 4);
  EXPECT_DOUBLE_EQ(four.levels()[0].bandwidth.value, 3 * 64e9);
}

TEST(WithOneMoreDomain, IsOneMoreNode) {
  const Cluster c = with_devices(catalog_cluster("h100-spine-leaf"), 256);  // 8 x 4 x 8
  const Cluster more = with_one_more_domain(c).value();
  EXPECT_EQ(more.devices(), 264);
  EXPECT_EQ(more.levels()[0].fan_out.size, 8);
  EXPECT_EQ(more.levels()[1].fan_out.sizes, (Sizes{4, 4, 4, 4, 4, 4, 4, 4, 1}));
  EXPECT_EQ(more.levels()[2].fan_out.size, 9);
  EXPECT_EQ(with_one_more_domain(more)->levels()[1].fan_out.sizes, (Sizes{4, 4, 4, 4, 4, 4, 4, 4, 2}));
}

TEST(WithOneMoreDomain, InTheOnlyRack) {
  const Cluster c = with_devices(catalog_cluster("h100-spine-leaf"), 16);
  EXPECT_EQ(sizes(with_one_more_domain(c).value()), (Sizes{8, 3, 1}));
}

TEST(WithOneMoreDomain, NotOfATorus) {
  const Cluster c = read_cluster(parse_yaml("x", R"(
name: pods
accelerator: h100-sxm
levels:
  - {name: pod, kind: torus, dims: [4, 4], bandwidth: 100 GB/s, latency: 1 us}
)"));
  EXPECT_FALSE(with_one_more_domain(c));
}

TEST(WithDevices, KeepsTheNamesOfTheDevicesThatStay) {
  const Cluster c = read_cluster(parse_yaml("x", R"(
name: named
accelerator: h100-sxm
levels:
  - {name: node, size: 2, bandwidth: 100 GB/s, latency: 1 us}
  - {name: rack, size: 2, bandwidth: 10 GB/s, latency: 5 us}
devices: [a, c, b, d]
)"));
  EXPECT_EQ(with_devices(c, 2).parts().device_names, (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(with_devices(c, 8).parts().device_names.empty());
  EXPECT_TRUE(with_one_more_domain(c)->parts().device_names.empty());
}

}  // namespace
}  // namespace nest::cluster
