#include "nest/cluster/imports/nccl_xml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

std::string gpu(int number, const std::string& links) {
  const std::string id = std::to_string(number);
  return "<pci busid=\"0000:0" + id +
         ":00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x20b2\" link_speed=\"16.0 GT/s PCIe\" "
         "link_width=\"16\"><gpu dev=\"" +
         id + "\" sm=\"80\" rank=\"" + id + "\" gdr=\"1\">" + links + "</gpu></pci>";
}
std::string nic(const std::string& name, int megabits) {
  return "<pci busid=\"" + name + "\" class=\"0x020700\"><nic><net name=\"" + name + "\" speed=\"" +
         std::to_string(megabits) + "\"/></nic></pci>";
}
std::string bridge(const std::string& inside) {
  return "<pci busid=\"b\" class=\"0x060400\">" + inside + "</pci>";
}
std::string system(const std::string& first, const std::string& second) {
  return "<system version=\"1\"><cpu numaid=\"0\">" + first + "</cpu><cpu numaid=\"1\">" + second +
         "</cpu></system>";
}
NodeFacts node(const std::string& text) {
  return *read_nccl_xml({"t.xml", text}, "").node;
}

TEST(NcclXml, LinksOverSwitchesAddUp) {
  const std::string links =
      R"(<nvlink target="x" count="6" tclass="0x068000"/><nvlink target="y" count="6" tclass="0x068000"/>)";
  const NodeFacts got = node(system(gpu(1, links) + gpu(2, links), gpu(3, links)));
  EXPECT_EQ(got.accelerator, "a100-80");
  ASSERT_EQ(got.levels.size(), 1U);
  EXPECT_EQ(got.levels.front().kind, LevelKind::switched);
  EXPECT_DOUBLE_EQ(got.levels.front().bandwidth.value, 300e9);
}

TEST(NcclXml, LinksToAPeerAreOfThatPair) {
  const NodeFacts got =
      node(system(gpu(1, R"(<nvlink target="0000:02:00.0" count="12" tclass="0x030200"/>)") +
                      gpu(2, R"(<nvlink target="0000:01:00.0" count="12" tclass="0x030200"/>)"),
                  gpu(3, "") + gpu(4, "")));
  // The pair with links, the sockets, and both of them.
  ASSERT_EQ(got.levels.size(), 3U);
  EXPECT_THAT(got.levels[0].fan_out.sizes, ElementsAre(2, 1, 1));
  EXPECT_DOUBLE_EQ(got.levels[0].bandwidth.value, 300e9);
}

TEST(NcclXml, ThePciTreeSaysWhatIsNear) {
  const NodeFacts got = node(system(bridge(gpu(1, "") + gpu(2, "")), bridge(gpu(3, "") + gpu(4, ""))));
  ASSERT_EQ(got.levels.size(), 2U);
  EXPECT_DOUBLE_EQ(got.levels[0].bandwidth.value, 32e9);  // generation 4
  EXPECT_DOUBLE_EQ(got.levels[1].bandwidth.value, 16e9);
}

// Each GPU's traffic takes the interface in its own bridge; the one for storage is on the other socket's root.
TEST(NcclXml, InterfacesNextToGpus) {
  const NodeFacts got =
      node(system(bridge(gpu(1, "") + nic("m0", 200'000)) + bridge(gpu(2, "") + nic("m1", 200'000)),
                  nic("storage", 100'000)));
  EXPECT_DOUBLE_EQ(got.network->value, 50e9);
  const NodeFacts bare = node(system(bridge(gpu(1, "") + "<pci busid=\"v\" class=\"0x020700\"/>"), ""));
  EXPECT_FALSE(bare.network.has_value());
  EXPECT_EQ(bare.nics, 1);
}

TEST(NcclXml, Mistakes) {
  EXPECT_EQ(message_of([] { static_cast<void>(node("<graph/>")); }),
            "t.xml: line 1: <graph> is no <system> or <graphs> of NCCL");
  EXPECT_EQ(
      message_of([] {
        static_cast<void>(
            node("<system>\n<cpu><pci class=\"0x030200\" vendor=\"0x10de\" device=\"0x1\"/></cpu></system>"));
      }),
      "t.xml: line 2: nothing says which GPU this is; name it with --accelerator; PCI vendor and device are "
      "'10de:1'");
}

}  // namespace
}  // namespace nest::cluster
