#include <gtest/gtest.h>

#include "nest/validate/collectives/collective_rows.hpp"

namespace nest::validate {
namespace {

CollectiveRow row(const std::string& collective, const std::string& hardware) {
  CollectiveRow out;
  out.id = "r";
  out.collective = collective;
  out.hardware = hardware;
  return out;
}

TEST(CollectiveCase, TwoNodesOverEfa) {
  CollectiveRow r = row("all_reduce", "A100-80GB p4de.24xlarge");
  r.devices = 16;
  r.nodes = 2;
  r.devices_per_node = 8;
  r.inter_link = "EFA 4x100 Gbps per node (p4de)";
  r.message_bytes = 1024;
  r.time_us = 165;
  const auto c = collective_case(r).found;
  ASSERT_TRUE(c);
  EXPECT_EQ(c->fabrics, (std::vector<std::string>{"nvlink3", "efa-p4"}));
  EXPECT_DOUBLE_EQ(c->cluster->levels()[1].bandwidth.value, 6.25e9);  // 400 Gb/s for eight devices
  EXPECT_DOUBLE_EQ(c->cluster->levels()[0].bandwidth.value, 300e9);
  EXPECT_FALSE(c->cluster->levels()[0].in_network_reduction);
  EXPECT_DOUBLE_EQ(c->measured.value, 165e-6);
}

TEST(CollectiveCase, BandwidthsBecomeTimes) {
  CollectiveRow r = row("all_reduce", "H200");
  r.devices = 8;
  r.nodes = 1;
  r.intra_link = "NVLink4 450 GBps/dir";
  r.message_bytes = 7e9;
  r.bus_gb_per_s = 350;
  EXPECT_NEAR(collective_case(r).found->measured.value, 7e9 * 2 * 7 / 8 / 350e9, 1e-12);
  EXPECT_TRUE(collective_case(r).found->cluster->levels()[0].in_network_reduction);
  r.algorithm = "Ring (NVLS off)";
  EXPECT_FALSE(collective_case(r).found->cluster->levels()[0].in_network_reduction);
  r.algorithm_gb_per_s = 700;
  EXPECT_NEAR(collective_case(r).found->measured.value, 0.01, 1e-12);
}

TEST(CollectiveCase, LargeMessagesAndManyNodesAreAssumed) {
  CollectiveRow r = row("all_reduce", "DGX A100");
  r.inter_link = "NVLink3 + 8x200Gb RDMA";
  r.bus_gb_per_s = 192;
  const auto c = collective_case(r).found;
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->large);
  EXPECT_EQ(c->devices, 32);
  EXPECT_DOUBLE_EQ(c->cluster->levels()[1].bandwidth.value, 25e9);
  EXPECT_EQ(c->fabrics[1], "infiniband");
}

TEST(CollectiveCase, AFewOfTheDevicesOfANode) {
  CollectiveRow r = row("all_to_all", "GB300 NVL72");
  r.devices = 2;
  r.nodes = 1;
  r.devices_per_node = 4;
  r.intra_link = "NVSwitch 900 GB/s per direction";
  r.message_bytes = 1048576;
  r.time_us = 17;
  const auto c = collective_case(r).found;
  ASSERT_TRUE(c);
  EXPECT_EQ(c->cluster->accelerator().name, "gb300");
  EXPECT_EQ(c->devices, 2);
  EXPECT_EQ(c->fabrics, (std::vector<std::string>{"nvlink5"}));
  r.hardware = "B300 SXM";
  EXPECT_EQ(collective_case(r).found->cluster->accelerator().name, "b300");
}

TEST(CollectiveCase, SaysWhyNot) {
  EXPECT_EQ(collective_case(row("all_reduce", "not stated (4 nodes x 8)")).why_not, "hardware not stated");
  EXPECT_EQ(collective_case(row("EP dispatch", "H100")).why_not, "no collective of ours: EP dispatch");
  EXPECT_EQ(collective_case(row("all_reduce", "H100")).why_not,
            "neither a time with its size nor a bandwidth");
  CollectiveRow flagged = row("all_reduce", "H100");
  flagged.notes = "FLAG: odd";
  EXPECT_EQ(collective_case(flagged).why_not, "flagged by its source");
}

TEST(CollectiveCase, ATotalOverBothDirectionsCountsTwice) {
  CollectiveRow r = row("p2p copy (nvbandwidth, bidirectional total)", "H200");
  r.devices = 2;
  r.nodes = 1;
  r.bus_gb_per_s = 800;
  EXPECT_NEAR(collective_case(r).found->measured.value, static_cast<double>(kLargeMessage.value) / 400e9,
              1e-12);
}

}  // namespace
}  // namespace nest::validate
