#include "nest/frameworks/common/allocation.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/test_launches.hpp"

namespace nest::frameworks {
namespace {

// Ranks on hosts of one level "rack" with these domains.
RankMap hosts_of_ranks(const std::vector<std::size_t>& hosts, const std::vector<std::int32_t>& racks) {
  RankMap map;
  map.resource = "nvidia.com/gpu";
  map.levels = {{"rack", false, false}};
  for (const std::int32_t rack : racks) {
    map.hosts.push_back({});
    map.hosts.back().devices = 8;
    map.hosts.back().domains = {rack};
  }
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    RankRow row;
    row.host = hosts[r];
    map.ranks.push_back(row);
    map.hosts[hosts[r]].ranks.push_back(static_cast<std::int64_t>(r));
  }
  return map;
}

TEST(Allocation, DistributionsAreThoseOfSrun) {
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0}, {0})), "block");
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0, 0, 1, 1}, {0, 0})), "block");
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0, 1, 0, 1}, {0, 0})), "cyclic");
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0, 0, 1, 1, 0, 0, 1, 1}, {0, 0})), "plane=2");
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0, 1, 1, 0}, {0, 0})), "arbitrary");
  EXPECT_EQ(slurm_distribution(hosts_of_ranks({0, 0, 1}, {0, 0})), "arbitrary");
}

TEST(Allocation, HostsAreCountedByDomain) {
  const RankMap map = hosts_of_ranks({0, 1, 2, 3, 4, 5}, {7, 9, 7, 9, 9, 9});
  const std::vector<HostGroups> groups = host_groups(map);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].domains, 2);
  EXPECT_EQ(groups[0].together, 2);
  EXPECT_FALSE(groups[0].equal);
  // The larger rack first.
  EXPECT_EQ(hosts_by_domain(map), (std::vector<std::size_t>{1, 3, 4, 5, 0, 2}));
}

TEST(Allocation, VariablesHaveReasons) {
  RankMap map = hosts_of_ranks({0, 1, 2, 3}, {0, 0, 1, 1});
  EXPECT_EQ(launch_variables(map).size(), 1U);
  map.levels[0].reduces = true;
  EXPECT_EQ(launch_variables(map)[1].name, "NCCL_COLLNET_ENABLE");
  map.levels[0].scale_up = true;
  EXPECT_EQ(launch_variables(map)[1].why, "the plan counts on NVLink between the hosts of a rack");
  map.resource = "google.com/tpu";
  EXPECT_TRUE(launch_variables(map).empty());
  EXPECT_EQ(allocation_losses(map).size(), 1U);
}

TEST(Allocation, SaysWhereHostsDiffer) {
  RankMap map = hosts_of_ranks({0, 1}, {0, 0});
  EXPECT_TRUE(allocation_losses(map).empty());
  map.hosts[1].devices = 72;
  const std::vector<std::string> lost = allocation_losses(map);
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_EQ(lost[0], "the plan's hosts have from 8 to 72 devices");
}

// At every level the hosts of a domain follow each other, and every host is there once.
TEST(Allocation, DomainsFollowEachOtherInRandomPlans) {
  test::for_random_launches(200, [](const ExportQuestion& question, unsigned seed) {
    const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
    const std::vector<std::size_t> order = hosts_by_domain(map);
    ASSERT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), map.hosts.size()) << seed;
    for (std::size_t l = 0; l < map.levels.size(); ++l) {
      std::set<std::int32_t> seen;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int32_t domain = map.hosts[order[i]].domains[l];
        if (i == 0 || domain != map.hosts[order[i - 1]].domains[l]) {
          ASSERT_TRUE(seen.insert(domain).second) << "seed " << seed;
        }
      }
      ASSERT_EQ(static_cast<std::int64_t>(seen.size()), host_groups(map)[l].domains);
    }
  });
}

}  // namespace
}  // namespace nest::frameworks
