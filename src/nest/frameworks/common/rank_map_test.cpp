#include "nest/frameworks/common/rank_map.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/resize.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

// docs/facts.md: 16 ranks, tensor 2, data 2, pipeline 4: pipeline groups [0, 4, 8, 12].., data groups [0, 2],
// [1, 3]..
TEST(RankMap, CountsAsMegatronDoes) {
  test::Planner planner("llama3.1-8b");
  const RankMap map =
      make_rank_map(planner.question(test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 2)),
                    RankOrder::data_before_stage);
  ASSERT_EQ(map.ranks.size(), 16U);
  for (const std::size_t r : {0U, 4U, 8U, 12U}) {
    EXPECT_EQ(map.ranks[r].tensor, 0);
    EXPECT_EQ(map.ranks[r].copy, 0);
    EXPECT_EQ(map.ranks[r].stage, static_cast<std::int64_t>(r) / 4);
  }
  EXPECT_EQ(map.ranks[2].copy, 1);
  EXPECT_EQ(map.ranks[2].stage, 0);
  EXPECT_EQ(map.ranks[3].tensor, 1);
}

TEST(RankMap, PutsEveryRankOnThePlansDevice) {
  test::Planner planner("mixtral-8x7b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true, .expert = 4, .expert_tensor = 1}, 2, 4);
  const ExportQuestion question = planner.question(plan);
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_EQ(question.plan.parallelism.strategy.side(), 2);
  for (const RankRow& row : map.ranks) {
    const std::int64_t j = row.tensor + 2 * (row.context + row.side);
    const Cell& cell =
        question.plan.stages[static_cast<std::size_t>(row.stage)].devices[static_cast<std::size_t>(row.copy)];
    EXPECT_EQ(cell[static_cast<std::size_t>(j)], row.device);
    EXPECT_EQ(row.device.value % 8, row.local_device);
  }
}

TEST(RankMap, StagesBeforeDataRanksKeepCopiesTogether) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 4);
  plan.parallelism.data_inner = 1;
  const ExportQuestion question = planner.question(plan);
  EXPECT_FALSE(make_rank_map(question, RankOrder::data_before_stage).consecutive);
  const RankMap map = make_rank_map(question, RankOrder::stage_before_data);
  EXPECT_TRUE(map.consecutive);
  EXPECT_EQ(map.ranks[2].stage, 1);
  EXPECT_TRUE(allows_stage_before_data(plan.parallelism));
  plan.parallelism.strategy.expert_tensor = 1;
  EXPECT_FALSE(allows_stage_before_data(plan.parallelism));
}

TEST(RankMap, HostsHaveTheNamesThatAreGiven) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 2));
  const auto names = [&] {
    std::vector<std::string> out;
    for (const HostRow& host : make_rank_map(question, RankOrder::data_before_stage).hosts)
      out.push_back(host.name);
    return out;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"node000", "node001"}));
  question.hosts = {"a", "b"};
  EXPECT_EQ(names(), (std::vector<std::string>{"a", "b"}));
  question.hosts = {"a"};
  EXPECT_EQ(message_of([&] { static_cast<void>(names()); }),
            "hosts: 1 names, but the plan runs on 2 hosts of 128");
  question.hosts = {"a", "a"};
  EXPECT_EQ(message_of([&] { static_cast<void>(names()); }), "hosts: a host is named twice");
}

TEST(RankMap, HostsKnowTheirDomainsAndDevices) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 6));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  ASSERT_EQ(map.levels.size(), 2U);
  EXPECT_EQ(map.levels[0].name, "rack");
  EXPECT_FALSE(map.levels[0].scale_up);
  EXPECT_EQ(map.hosts[5].domains, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(map.hosts[5].devices, 8);
  EXPECT_EQ(map.resource, "nvidia.com/gpu");
  EXPECT_FALSE(map.named);
}

TEST(RankMap, DomainsMaySpanHosts) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 2));
  question.devices_per_host = 4;
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_EQ(map.hosts.size(), 4U);
  EXPECT_EQ(map.host_devices, 4);
  EXPECT_EQ(map.ranks[5].local_device, 1);
  EXPECT_EQ(map.hosts[map.ranks[5].host].name, "node001");
  // The halves of a node are hosts, which the node's own links join.
  ASSERT_EQ(map.levels.size(), 3U);
  EXPECT_TRUE(map.levels[0].scale_up);
  EXPECT_EQ(map.levels[0].name, "node");
  EXPECT_EQ(map.hosts[3].domains, (std::vector<std::int32_t>{1, 0, 0}));
  question.devices_per_host = 5;
  EXPECT_EQ(make_rank_map(question, RankOrder::data_before_stage).hosts[1].devices, 3);
}

// The measurements count devices across two hosts in turn: d0, d2, .. are on the first, d1, d3, .. on the second.
TEST(RankMap, FollowsTheNamesOfMeasuredDevices) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 2));
  ClusterParts parts = with_devices(question.inputs.cluster, 16).parts();
  for (const int first : {1, 0}) {  // the cluster's first host is the one with d1
    for (int i = 7; i >= 0; --i) parts.device_names.push_back("d" + std::to_string(first + 2 * i));
  }
  question.inputs.cluster = Cluster(std::move(parts));
  question.hosts = {"even", "odd"};
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  for (const RankRow& row : map.ranks) {
    const int number = std::stoi(row.name.substr(1));
    EXPECT_EQ(map.hosts[row.host].name, number % 2 == 0 ? "even" : "odd") << row.name;
    EXPECT_EQ(row.local_device, number / 2) << row.name;
  }
}

}  // namespace
}  // namespace nest::frameworks
