#include "nest/frameworks/kubernetes/pods.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nest::frameworks {
namespace {

// One rank for each host, with these numbers of devices and racks.
RankMap some_hosts(const std::vector<std::int64_t>& devices, const std::vector<std::int32_t>& racks) {
  RankMap map;
  map.levels = {{"rack", false, false}};
  for (std::size_t h = 0; h < devices.size(); ++h) {
    const auto rank = static_cast<std::int64_t>(h);
    map.hosts.push_back({"x", {rank}, {0}, devices[h], {racks[h]}});
    RankRow row;
    row.host = h;
    map.ranks.push_back(row);
  }
  return map;
}

TEST(Pods, RanksAreSpelledAsRanges) {
  EXPECT_EQ(spell_ranges({5}), "5");
  EXPECT_EQ(spell_ranges({0, 1, 2, 16, 18, 19}), "0-2,16,18-19");
}

TEST(Pods, AreCountedDomainByDomain) {
  const RankMap map = some_hosts({8, 8, 8, 8}, {0, 1, 0, 1});
  const std::vector<PodJob> jobs = pod_jobs(map);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].name, "hosts");
  EXPECT_EQ(jobs[0].hosts, (std::vector<std::size_t>{0, 2, 1, 3}));
  EXPECT_EQ(
      pod_tables(map, jobs)[0],
      "# job index node_rank ranks devices\nhosts 0 0 0 0\nhosts 1 2 2 0\nhosts 2 1 1 0\nhosts 3 3 3 0\n");
  EXPECT_EQ(master_pod("x", map, jobs), "x-hosts-0-0");
}

TEST(Pods, HostsOfOtherSizesAreOtherJobs) {
  const RankMap map = some_hosts({4, 8, 8}, {0, 0, 0});
  const std::vector<PodJob> jobs = pod_jobs(map);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].name, "hosts-8");
  EXPECT_EQ(jobs[1].devices, 4);
  EXPECT_EQ(master_pod("x", map, jobs), "x-hosts-4-0-0");
}

// A ConfigMap has 1 MiB: 40,000 hosts with 20 devices take five.
TEST(Pods, LargeTablesAreSplit) {
  RankMap map = some_hosts(std::vector<std::int64_t>(40'000, 8), std::vector<std::int32_t>(40'000, 0));
  for (HostRow& host : map.hosts) host.local_devices.assign(20, 100);
  const std::vector<std::string> tables = pod_tables(map, pod_jobs(map));
  EXPECT_EQ(tables.size(), 5U);
  std::ptrdiff_t rows = 0;
  for (const std::string& table : tables) {
    EXPECT_LT(table.size(), 1U << 20U);
    rows += std::count(table.begin(), table.end(), '\n') - 1;
  }
  EXPECT_EQ(rows, 40'000);
}

}  // namespace
}  // namespace nest::frameworks
