#include "nest/frameworks/common/placement_files.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::frameworks {
namespace {

TEST(Placement, WritesWhatLaunchersRead) {
  test::Planner planner("llama3.1-8b");
  const auto [result, files] = test::exported(
      "placement", planner.question(test::degrees({.tensor = 4, .sequence_parallel = true}, 2, 1)));
  EXPECT_EQ(result.rule, "");
  EXPECT_EQ(
      files.at("placement/nodes.txt"),
      "# node_rank host first_rank ranks cuda_visible_devices domains\n0 node000 0 8 4,5,6,7,0,1,2,3 0.0\n");
  EXPECT_EQ(
      files.at("placement/rank_map.csv").substr(0, 95),
      "rank,host,local_rank,local_device,device,stage,copy,side,context,tensor\n0,node000,0,4,4,0,0,0,0");
  EXPECT_EQ(files.at("placement/openmpi_rankfile").substr(0, 23), "rank 0=node000 slot=4\nr");
  EXPECT_TRUE(files.contains("placement/launch_torchrun.sh"));
  EXPECT_EQ(test::check_placement(files, 4, 1, 2, false), "");
}

TEST(Placement, SaysWhereTorchrunCannotNumber) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 4);
  plan.parallelism.data_inner = 1;
  const auto [result, files] = test::exported("placement", planner.question(plan));
  ASSERT_EQ(result.lost.size(), 1U);
  EXPECT_EQ(result.lost[0].substr(0, 36), "torchrun numbers ranks host by host,");
  EXPECT_FALSE(files.contains("placement/launch_torchrun.sh"));
  EXPECT_EQ(test::check_placement(files, 2, 1, 4, false), "");
}

TEST(Placement, SaysWhereHostsAreDomains) {
  test::Planner planner("llama3.1-8b", "megatron", "gb200-nvl72");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 4));
  EXPECT_EQ(test::exported("placement", question).result.lost.size(), 1U);
  question.devices_per_host = 4;
  EXPECT_TRUE(test::exported("placement", question).result.lost.empty());
}

}  // namespace
}  // namespace nest::frameworks
