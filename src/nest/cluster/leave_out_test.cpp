#include "nest/cluster/leave_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/resize.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

ClusterParts sixteen() {
  ClusterParts parts = with_devices(catalog_cluster("h100-spine-leaf"), 16).parts();
  for (const char* host : {"n1", "n2"}) {
    for (int gpu = 0; gpu < 8; ++gpu)
      parts.device_names.push_back(std::string(host) + "/gpu" + std::to_string(gpu));
  }
  return parts;
}

TEST(LeaveOut, RangesOfNames) {
  const Cluster left = leave_out(sixteen(), {"n1/gpu[1-7]", "n2/gpu0"});
  EXPECT_EQ(left.devices(), 8);
  EXPECT_EQ(left.parts().device_names.front(), "n1/gpu0");
  EXPECT_THAT(left.parts().absences.entries, ElementsAre("n1/gpu[1-7]", "n2/gpu0"));
  EXPECT_EQ(leave_out(sixteen(), {}).devices(), 16);
}

TEST(LeaveOut, WhatIsCalledNothing) {
  EXPECT_EQ(message_of([] { static_cast<void>(leave_out(sixteen(), {"n[1-3]"})); }),
            "absent: nothing is called 'n3'; did you mean 'n1'?");
  EXPECT_EQ(message_of([] { static_cast<void>(leave_out(sixteen(), {"n[1-99999999999]"})); }),
            "absent: 'n[1-99999999999]' is too many names");
}

}  // namespace
}  // namespace nest::cluster
