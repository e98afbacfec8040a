#include "nest/cluster/imports/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(ImportNames, NamesCountCoresOrChips) {
  EXPECT_EQ(read_tpu_name("v4-8").node->devices, 4);
  EXPECT_EQ(read_tpu_name("v5p-256").node->devices, 128);
  EXPECT_EQ(read_tpu_name("v5e-256").node->devices, 256);
  EXPECT_EQ(read_tpu_name("V6E-8").node->devices, 8);
  EXPECT_EQ(read_tpu_name("tpu7x-128").node->devices, 64);
  EXPECT_THAT(read_tpu_name("v5p-256").node->levels.front().dims, ElementsAre(4, 4, 8));
  EXPECT_THAT(read_tpu_name("v5p:8x8x12").node->levels.front().dims, ElementsAre(8, 8, 12));
}

TEST(ImportNames, SystemsAsPeopleWriteThem) {
  EXPECT_EQ(read_shape_name("DGX H100", "dgx").hosts.front().type, "DGX-H100");
  EXPECT_EQ(read_shape_name("gb200-nvl72", "dgx").counted_by, 18);
  EXPECT_EQ(read_shape_name("ND96isr_H100_v5", "azure").hosts.front().type, "Standard_ND96isr_H100_v5");
}

TEST(ImportNames, WhatIsNoName) {
  EXPECT_EQ(message_of([] { static_cast<void>(read_shape_name("p5.48xlarge", "azure")); }).substr(0, 62),
            "there is no instance type or server 'p5.48xlarge'; known are S");
  EXPECT_EQ(message_of([] { static_cast<void>(read_tpu_name("v5e-512")); }),
            "no slice of 512 chips is known; a topology says it: v5e:8x16");
  EXPECT_EQ(message_of([] { static_cast<void>(read_tpu_name("v4-x")); }),
            "'v4-x' is no slice of TPUs; its number counts cores, two in a chip");
}

TEST(ImportNames, SlicesAsGoogleDescribesThem) {
  const ImportFacts facts =
      read_tpu({"t.json",
                R"([{"acceleratorType": "v5p-512", "acceleratorConfig": {"type": "V5P", "topology": "4X8X8"}},
                                                    {"acceleratorConfig": {"type": "V5P", "topology": "4x8x8"}}])"});
  EXPECT_EQ(facts.count, 2);
  EXPECT_EQ(facts.node->devices, 256);
  EXPECT_EQ(message_of([] {
              static_cast<void>(
                  read_tpu({"t.json", R"([{"acceleratorConfig": {"type": "V99", "topology": "4x4"}}])"}));
            }),
            "t.json: line 1, [0]: neither acceleratorType nor acceleratorConfig says what the slice is; "
            "gcloud compute tpus tpu-vm "
            "describe NAME --format=json does");
}

}  // namespace
}  // namespace nest::cluster
