#include "nest/frameworks/common/hosts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nest/cluster/resize.hpp"
#include "nest/frameworks/common/rank_map.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

// Hosts of a rack are parts of one domain, and one of them lacks a device: names say which is which.
TEST(Hosts, ImportedNamesSayHostsAndTheirDevices) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 4, .sequence_parallel = true}, 1, 4));
  ClusterParts parts = question.inputs.cluster.parts();
  parts.levels.resize(2);
  parts.levels[0].fan_out = {8, {}};
  parts.levels[1].fan_out = {2, {}};
  for (const char* host : {"r1-b", "r1-a", "r2-a", "r2-c"}) {
    for (const int gpu : {0, 1, 3, 2})
      parts.device_names.push_back(std::string(host) + "/gpu" + std::to_string(gpu));
  }
  question.inputs.cluster = Cluster(std::move(parts));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_TRUE(map.named);
  ASSERT_EQ(map.hosts.size(), 4U);
  for (const RankRow& row : map.ranks) {
    EXPECT_EQ(row.name, map.hosts[row.host].name + "/gpu" + std::to_string(row.local_device));
    EXPECT_EQ(map.hosts[row.host].devices, 4);
  }
  // Both levels join hosts.
  EXPECT_EQ(map.levels.size(), 2U);
  question.hosts = {"w", "x", "y", "z"};  // in the order of the names: r1-a, r1-b, r2-a, r2-c
  const RankMap given = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_EQ(given.hosts[given.ranks[0].host].name, "x");
}

TEST(Hosts, NamesThatDifferInZerosAreTwoHosts) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 2));
  ClusterParts parts = with_devices(question.inputs.cluster, 16).parts();
  for (const char* host : {"n01", "n1"}) {
    for (int gpu = 0; gpu < 8; ++gpu)
      parts.device_names.push_back(std::string(host) + "/gpu" + std::to_string(gpu));
  }
  question.inputs.cluster = Cluster(std::move(parts));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  ASSERT_EQ(map.hosts.size(), 2U);
  EXPECT_NE(map.hosts[0].name, map.hosts[1].name);
}

// Names stand in scripts: what no host is called is not taken for one.
TEST(Hosts, OddNamesAreNoHosts) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 2));
  ClusterParts parts = with_devices(question.inputs.cluster, 16).parts();
  for (const char* host : {"$(reboot)", "n1"}) {
    for (int gpu = 0; gpu < 8; ++gpu)
      parts.device_names.push_back(std::string(host) + "/gpu" + std::to_string(gpu));
  }
  question.inputs.cluster = Cluster(std::move(parts));
  EXPECT_TRUE(Hosts(question).names().empty());
}

}  // namespace
}  // namespace nest::frameworks
