#include "nest/frameworks/kubernetes/topology_request.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

class Requests : public testing::Test {
 protected:
  // "required tier-1, slices of 4 in tier-0", and what is lost.
  std::string request(std::int64_t data, const std::string& cluster = "h100-spine-leaf",
                      std::int64_t per_host = 0) {
    test::Planner planner("llama3.1-8b", "megatron", cluster);
    ExportQuestion question =
        planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, data));
    question.devices_per_host = per_host;
    const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
    const TopologyRequest found = topology_request(map, pod_jobs(map));
    lost_ = found.lost;
    std::string out;
    for (const auto& [key, value] : found.annotations)
      out +=
          (out.empty() ? "" : ", ") + key.substr(key.find('/') + 8) + " " + value.substr(value.find('/') + 1);
    return out;
  }
  std::vector<std::string> lost_;
};

TEST_F(Requests, OneHostNeedsNothing) {
  EXPECT_EQ(request(1), "unconstrained-topology true");
}

// 3 nodes fill a part of one rack; 8 nodes are 2 racks below one spine.
TEST_F(Requests, HostsThatLieTogetherStayTogether) {
  EXPECT_EQ(request(3), "required-topology tier-0");
  EXPECT_EQ(request(8), "required-topology tier-1, slice-required-topology tier-0, slice-size 4");
  EXPECT_TRUE(lost_.empty());
}

// 4 and 2 nodes: slices of 2.
TEST_F(Requests, UnequalDomainsShareASize) {
  EXPECT_EQ(request(6), "required-topology tier-1, slice-required-topology tier-0, slice-size 2");
  ASSERT_EQ(lost_.size(), 1U);
  EXPECT_EQ(
      lost_[0],
      "the plan has different numbers of hosts in domains of the level rack: slices of 2 are asked for");
  EXPECT_EQ(request(5), "required-topology tier-1");
  EXPECT_EQ(lost_[0], "5 hosts in 2 domains of the level rack are not asked for");
}

// A rack of NVLink has 18 hosts of 4.
TEST_F(Requests, DomainsOfTheAcceleratorsHaveTheirOwnLabel) {
  EXPECT_EQ(request(9, "gb200-nvl72", 4), "required-topology domain");
  EXPECT_EQ(request(18, "gb200-nvl72", 4),
            "required-topology tier-0, slice-required-topology domain, slice-size 18");
}

TEST_F(Requests, PodsOfDifferentSizesAreApart) {
  EXPECT_EQ(request(2, "h100-spine-leaf", 5), "preferred-topology tier-0");
  EXPECT_EQ(lost_.size(), 1U);
}

}  // namespace
}  // namespace nest::frameworks
