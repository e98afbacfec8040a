#include "nest/cluster/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::cluster {
namespace {

std::string error_of(const std::string& name) {
  try {
    (void)load_cluster(name);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Catalog, EveryClusterReadsAndSaysWhereItComesFrom) {
  EXPECT_GE(cluster_names().size(), 24U);
  for (const std::string& name : cluster_names()) {
    SCOPED_TRACE(name);
    const Cluster c = catalog_cluster(name);
    EXPECT_EQ(c.name(), name);
    EXPECT_FALSE(c.parts().source.empty());
    EXPECT_FALSE(c.parts().date.empty());
    EXPECT_GT(bisection(c).value, 0);
  }
}

TEST(Catalog, HasTheClustersOfTheContract) {
  EXPECT_THAT(cluster_names(), testing::IsSupersetOf({"h100-spine-leaf",
                                                      "paper-h100-spine-leaf",
                                                      "paper-tpuv4-fat-tree",
                                                      "dgx-h100-superpod",
                                                      "dgx-a100-superpod",
                                                      "dgx-h200-superpod",
                                                      "dgx-b200-superpod",
                                                      "gb200-nvl72",
                                                      "h800-rail",
                                                      "tpu-v5p-256",
                                                      "mega-131072",
                                                      "aws-p4d",
                                                      "aws-p5",
                                                      "aws-trn2",
                                                      "gcp-a3",
                                                      "gcp-a3-mega",
                                                      "tpu-v5e-256",
                                                      "tpu-v6e-256",
                                                      "pcie-workstation",
                                                      "ethernet-4to1",
                                                      "azure-ndv5"}));
}

TEST(Catalog, TheDesignsExampleIsExact) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_EQ(c.devices(), 1024);
  EXPECT_EQ(c.accelerator().name, "h100-sxm");
  ASSERT_EQ(c.levels().size(), 3U);
  const std::vector<std::string> names{"node", "rack", "spine"};
  const std::vector<std::int32_t> sizes{8, 4, 32};
  const std::vector<double> rates{450e9, 50e9, 50e9};
  const std::vector<double> latencies{1e-6, 5e-6, 10e-6};
  for (std::size_t l = 0; l < 3; ++l) {
    const Level& level = c.levels()[l];
    EXPECT_EQ(level.name, names[l]);
    EXPECT_EQ(level.kind, LevelKind::switched);
    EXPECT_EQ(level.fan_out, (FanOut{sizes[l], {}}));
    EXPECT_EQ(level.bandwidth.value, rates[l]);
    EXPECT_DOUBLE_EQ(level.latency.value, latencies[l]);
    EXPECT_EQ(level.oversubscription, l == 2 ? 4 : 1);
    EXPECT_FALSE(level.in_network_reduction);
  }
}

TEST(Catalog, ThePapersClustersUseItsOwnGigabytes) {
  constexpr double kGiB = 1073741824.0;
  const Cluster tpu = catalog_cluster("paper-tpuv4-fat-tree");
  const Cluster h100 = catalog_cluster("paper-h100-spine-leaf");
  EXPECT_EQ(tpu.accelerator().memory.value, std::int64_t{64} << 30);
  EXPECT_EQ(h100.accelerator().memory.value, std::int64_t{90} << 30);
  EXPECT_EQ(tpu.levels()[2].bandwidth.value, 400 * kGiB);
  EXPECT_EQ(h100.levels()[1].bandwidth.value, 12.5 * kGiB);
  EXPECT_DOUBLE_EQ(h100.levels()[2].latency.value, 0.3e-3);
  EXPECT_EQ(tpu.devices(), 1024);
}

TEST(Catalog, SlicesHaveTheDevicesTheirNamesSay) {
  EXPECT_EQ(catalog_cluster("tpu-v5p-256").levels()[0].dims, (std::vector<std::int32_t>{4, 4, 8}));
  EXPECT_EQ(catalog_cluster("tpu-v5p-256").devices(), 128);
  EXPECT_EQ(catalog_cluster("tpu-v5e-256").devices(), 256);
  EXPECT_EQ(catalog_cluster("tpu-v4-4096").devices(), 2048);
  EXPECT_EQ(catalog_cluster("h800-rail").devices(), 2048);
}

TEST(Catalog, TheLargestIsDescribedAndQueriedAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const Cluster c = catalog_cluster("mega-131072");
  EXPECT_EQ(c.devices(), 131072);
  const std::string summary = to_json(cluster_summary(c));
  std::vector<DeviceId> all;
  all.reserve(131072);
  for (std::int32_t d = 0; d < c.devices(); ++d) all.emplace_back(d);
  const auto members = c.tree().members(all);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(members[4], (LevelMembers{{16, 1}}));
  EXPECT_THAT(summary, testing::HasSubstr("\"devices\": 131072"));
#ifdef NDEBUG
  EXPECT_LT(std::chrono::duration<double>(took).count(), 0.050);
#else
  (void)took;
#endif
}

TEST(Catalog, UnknownNamesGetAGuess) {
  EXPECT_EQ(error_of("h100-spine-laef"),
            "unknown cluster 'h100-spine-laef'; did you mean 'h100-spine-leaf'?");
  EXPECT_EQ(error_of("zzz"), "unknown cluster 'zzz'; 'nest clusters' lists the known ones");
}

TEST(Catalog, AFileIsReadByItsPathOrEnding) {
  const std::string path = testing::TempDir() + "catalog_test_cluster.yaml";
  write_file(path, to_json(cluster_file_value(catalog_cluster("gb200-nvl72"))));
  EXPECT_EQ(load_cluster(path).devices(), 9216);
  std::remove(path.c_str());
  EXPECT_THAT(error_of("nowhere.yaml"), testing::HasSubstr("nowhere.yaml"));
}

}  // namespace
}  // namespace nest::cluster
