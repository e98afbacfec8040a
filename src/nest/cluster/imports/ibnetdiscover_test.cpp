#include "nest/cluster/imports/ibnetdiscover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string block(const std::string& id, const std::string& name) {
  return "\nvendid=0x2c9\nswitchguid=0x" + id + "(" + id + ")\nSwitch\t65 \"S-" + id + "\"\t\t# \"MF0;" +
         name + ":MQM9701/U1\" enhanced port 0 lid 73 lmc 0\n";
}
std::string host(int port, const std::string& id, const std::string& name,
                 const std::string& rate = "4xNDR") {
  return "[" + std::to_string(port) + "]\t\"H-" + id + "\"[1](" + id + ") \t\t# \"" + name + "\" lid 7 " +
         rate + "\n";
}
std::string uplink(int port, const std::string& id, const std::string& rate = "4xNDR") {
  return "[" + std::to_string(port) + "]\t\"S-" + id + "\"[3]\t\t# \"MF0;s:MQM9701/U1\" lid 236 " + rate +
         "\n";
}

// Two leaves of four hosts, each with two links to one spine: 4 x 50 GB/s against 2 x 50.
std::string two_leaves() {
  std::string text = "#\n# Topology file: generated on Mon Nov 16 10:00:00 2026\n#\n";
  for (int leaf = 0; leaf < 2; ++leaf) {
    text += block("a" + std::to_string(leaf), "leaf" + std::to_string(leaf));
    for (int h = 0; h < 4; ++h) {
      const std::string name = "node" + std::to_string(4 * leaf + h);
      text += host(h + 1, "e" + std::to_string(4 * leaf + h), name + " mlx5_0");
    }
    text += uplink(35, "5") + uplink(36, "5");
    text += host(65, "f" + std::to_string(leaf), "Mellanox Technologies Aggregation Node");
  }
  text += block("5", "spine");
  for (int port = 1; port <= 4; ++port) text += uplink(port, "a" + std::to_string(port % 2));
  return text;
}

TEST(Ibnetdiscover, RatesOfLinks) {
  const auto rate = [](const char* text) {
    return infiniband_rate(text).value_or(BytesPerSecond{0}).value * 8 / 1e9;
  };
  EXPECT_DOUBLE_EQ(rate("4xNDR"), 400);
  EXPECT_DOUBLE_EQ(rate("2xNDR"), 200);
  EXPECT_DOUBLE_EQ(rate("2xHDR"), 100);
  EXPECT_DOUBLE_EQ(rate("4xXDR"), 800);
  EXPECT_DOUBLE_EQ(rate("4xFDR"), 56);
  EXPECT_DOUBLE_EQ(rate("4xFDR10"), 40);
  EXPECT_DOUBLE_EQ(rate("4xSDR"), 10);
  EXPECT_DOUBLE_EQ(rate("NDR"), 0);
  EXPECT_DOUBLE_EQ(rate("0xNDR"), 0);
  EXPECT_DOUBLE_EQ(rate("4xFAST"), 0);
}

TEST(Ibnetdiscover, UplinksAgainstHosts) {
  const ImportFacts facts = read_ibnetdiscover({"ib.txt", two_leaves()});
  EXPECT_EQ(facts.hosts.size(), 8U);
  ASSERT_EQ(facts.tiers.size(), 2U);
  EXPECT_DOUBLE_EQ(facts.tiers[0].host_bandwidth->value, 50e9);
  EXPECT_DOUBLE_EQ(facts.tiers[1].oversubscription, 2);
  EXPECT_EQ(facts.hosts[0].domains[0], facts.hosts[3].domains[0]);
  EXPECT_NE(facts.hosts[3].domains[0], facts.hosts[4].domains[0]);
  EXPECT_EQ(facts.hosts[3].domains[1], facts.hosts[4].domains[1]);
  EXPECT_THAT(facts.notes.known,
              ElementsAre("8 hosts at 2 leaf switches, 1 switch above (ib.txt)",
                          "1 link of 50 GB/s from a host", HasSubstr("switches can add up (SHARP)")));
}

// A server for management on the spine, an adapter that nobody named, and a host with a slow cable.
TEST(Ibnetdiscover, WhatIsOdd) {
  std::string text = two_leaves() + host(40, "c1", "ufm01 mlx5_0");
  const std::size_t named = text.find("node2 mlx5_0");
  text.replace(named, 12, "MT4129 ConnectX7   Mellanox Technologies");
  const std::size_t slow = text.find("4xNDR", text.find("node1 mlx5_0"));
  text.replace(slow, 5, "2xNDR");
  const ImportFacts facts = read_ibnetdiscover({"ib.txt", text});
  EXPECT_EQ(facts.hosts.size(), 8U);
  EXPECT_NE(facts.find("H-e2"), nullptr);
  EXPECT_THAT(facts.notes.left_out, ElementsAre("1 host (ufm01): attached above the leaves"));
  EXPECT_THAT(facts.notes.assumed,
              ElementsAre("the network of the others for hosts with fewer or slower links: 1 host (node1)"));
}

// Eight interfaces of a host go to eight leaves, one for each rail.
TEST(Ibnetdiscover, RailsBelongTogether) {
  std::string text;
  for (int rail = 0; rail < 8; ++rail) {
    text += block("a" + std::to_string(rail), "leaf" + std::to_string(rail));
    for (int h = 0; h < 4; ++h)
      text += host(h + 1, std::to_string(h) + "e" + std::to_string(rail),
                   "n" + std::to_string(h) + " mlx5_" + std::to_string(rail));
  }
  const ImportFacts facts = read_ibnetdiscover({"ib.txt", text});
  EXPECT_EQ(facts.hosts.size(), 4U);
  EXPECT_EQ(facts.hosts[0].domains[0], facts.hosts[3].domains[0]);
  EXPECT_DOUBLE_EQ(facts.tiers[0].host_bandwidth->value, 400e9);
}

TEST(Ibnetdiscover, MistakesAreSaidWithTheirLine) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_ibnetdiscover({"ib.txt", text})); });
  };
  EXPECT_EQ(refusal("Switch 65 S-1\n"),
            "ib.txt: line 1: a switch without its id; a line is like: Switch 65 \"S-2c5eab0300b87b40\" # "
            "\"leaf01\"");
  EXPECT_EQ(refusal("Switch 65 \"S-1\" # \"leaf\"\n[1] \"H-2\"[1](2) # \"n1 mlx5_0\" lid 3\n"),
            "ib.txt: line 2: the width and speed of the link are missing; a line ends like 'lid 647 4xNDR'");
  EXPECT_EQ(refusal("caguid=0x1\nCa 1 \"H-1\" # \"n1 HCA-1\"\n"),
            "ib.txt: no switch is described; ibnetdiscover lists every switch with its ports");
  EXPECT_EQ(refusal("Switch 65 \"S-1\" # \"leaf\"\n").substr(0, 44),
            "ib.txt: no host is attached to a switch; lin");
}

}  // namespace
}  // namespace nest::cluster
