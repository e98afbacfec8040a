#include "nest/plan/rules/rented_plan.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::plan {
namespace {

TEST(RentedPlan, NodesThatItTouches) {
  const Cluster cluster = cluster::catalog_cluster("h100-spine-leaf");
  Plan plan;
  plan.stages.resize(2);
  plan.stages[0].devices = {{DeviceId{0}, DeviceId{1}}, {DeviceId{2}, DeviceId{3}}};
  plan.stages[1].devices = {{DeviceId{7}, DeviceId{8}}, {DeviceId{9}, DeviceId{10}}};
  EXPECT_EQ(rented_devices(plan, cluster), 16);
}

}  // namespace
}  // namespace nest::plan
