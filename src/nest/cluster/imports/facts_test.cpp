#include "nest/cluster/imports/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nest::cluster {
namespace {

using testing::ElementsAre;

ImportFacts network(const char* tier) {
  ImportFacts facts;
  facts.tiers.emplace_back();
  facts.tiers.back().name = tier;
  facts.host("a", "net", 1).domains = {"1"};
  facts.host("b", "net", 2).domains = {"2"};
  for (HostFacts& host : facts.hosts) host.placed = true;
  return facts;
}

TEST(ImportFacts, AListAddsToANetwork) {
  ImportFacts facts = network("leaf");
  ImportFacts list;
  list.host("b", "list", 7).devices = 8;
  list.host("c", "list", 8).out = "drained";
  for (HostFacts& host : list.hosts) host.listed = true;
  merge(facts, std::move(list));
  ASSERT_EQ(facts.hosts.size(), 3U);
  EXPECT_EQ(facts.find("b")->devices, 8);
  EXPECT_THAT(facts.find("b")->domains, ElementsAre("2"));
  EXPECT_TRUE(facts.find("b")->placed && facts.find("b")->listed);
  EXPECT_EQ(facts.find("b")->place(), "line 2");
  EXPECT_FALSE(facts.find("c")->placed);
}

TEST(ImportFacts, ASecondNetworkIsLeftOut) {
  ImportFacts facts = network("leaf");
  ImportFacts other = network("rack");
  other.sources = {"other"};
  other.host("c", "other", 0).domains = {"9"};
  merge(facts, std::move(other));
  EXPECT_THAT(facts.notes.left_out,
              ElementsAre("what other says of the network: another file says it already"));
  EXPECT_EQ(facts.tiers.size(), 1U);
  EXPECT_TRUE(facts.find("c")->domains.empty());
  // The same tiers again are more hosts, as pages of a list are.
  ImportFacts pages = network("leaf");
  ImportFacts page = network("leaf");
  page.host("d", "page", 0).domains = {"1"};
  merge(pages, std::move(page));
  EXPECT_THAT(pages.find("d")->domains, ElementsAre("1"));
  EXPECT_TRUE(pages.notes.left_out.empty());
}

TEST(ImportFacts, LinksThatAreKnownGoBeforeAssumedOnes) {
  ImportFacts facts = network("block");
  for (HostFacts& host : facts.hosts) host.links = host.domains.front();
  facts.links_assumed = "blocks";
  ImportFacts list;
  list.host("a", "list", 0).links = "clique";
  list.host("b", "list", 0).links = "clique";
  merge(facts, std::move(list));
  EXPECT_EQ(facts.links_assumed, "");
  EXPECT_EQ(facts.find("b")->links, "clique");
}

TEST(ImportFacts, TwoFilesAboutOneHost) {
  ImportFacts query;
  query.node = NodeFacts{.source = "q", .accelerator = "h200", .devices = 8};
  ImportFacts matrix;
  matrix.node = NodeFacts{.source = "m", .accelerator = "h100-sxm", .devices = 4, .device_names = {"gpu0"}};
  matrix.node->levels.emplace_back();
  matrix.node->nics = 2;
  merge(query, std::move(matrix));
  EXPECT_EQ(query.node->accelerator, "h200");
  EXPECT_EQ(query.node->devices, 4);
  EXPECT_EQ(query.node->levels.size(), 1U);
  EXPECT_EQ(query.node->nics, 2);
}

TEST(ImportFacts, Words) {
  EXPECT_EQ(count_of(1, "host"), "1 host");
  EXPECT_EQ(count_of(1200, "host"), "1,200 hosts");
  EXPECT_EQ(count_hosts({"a", "b", "c", "d", "e"}), "5 hosts (a, b, c, d, ..)");
  EXPECT_EQ(own_name("/etc/slurm/topology.conf"), "topology.conf");
  EXPECT_EQ(own_name("C:\\topo.txt"), "topo.txt");
  EXPECT_EQ(usual_tier_name(0), "leaf");
  EXPECT_EQ(usual_tier_name(3), "tier4");
}

}  // namespace
}  // namespace nest::cluster
