#include "nest/cluster/imports/ib_fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

// A fat tree of three tiers: cores join two pods of two spines and two leaves, and each leaf has four hosts.
IbFabric fat_tree(double spine_to_core) {
  IbFabric fabric;
  fabric.switches.resize(2 + 2 * 4);
  for (std::size_t pod = 0; pod < 2; ++pod) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t leaf = 2 + 4 * pod + i;
      const std::size_t spine = leaf + 2;
      for (int h = 0; h < 4; ++h) {
        const std::string name =
            "p" + std::to_string(pod) + "l" + std::to_string(i) + "h" + std::to_string(h);
        fabric.switches[leaf].hosts.push_back({name, "H-" + name, 100, 1});
      }
      for (std::size_t s = 0; s < 2; ++s) fabric.switches[leaf].links.push_back({4 + 4 * pod + s, 200});
      for (std::size_t core = 0; core < 2; ++core) {
        fabric.switches[spine].links.push_back({core, spine_to_core});
        fabric.switches[core].links.push_back({spine, spine_to_core});
      }
    }
  }
  return fabric;
}

TEST(IbFabric, ThreeTiersAndWhatEachCarries) {
  const ImportFacts facts = facts_of(fat_tree(50), "ib");
  ASSERT_EQ(facts.tiers.size(), 3U);
  EXPECT_DOUBLE_EQ(facts.tiers[0].host_bandwidth->value, 100);
  EXPECT_DOUBLE_EQ(facts.tiers[1].oversubscription, 1);  // 4 hosts, 2 links of twice their rate
  EXPECT_DOUBLE_EQ(facts.tiers[2].oversubscription, 4);  // 8 hosts of 100 over 2 spines with 2 links of 50
  EXPECT_EQ(facts.hosts[0].domains[1], facts.hosts[4].domains[1]);
  EXPECT_NE(facts.hosts[0].domains[1], facts.hosts[8].domains[1]);
  EXPECT_EQ(facts.hosts[0].domains[2], facts.hosts[8].domains[2]);
  EXPECT_DOUBLE_EQ(facts_of(fat_tree(400), "ib").tiers[2].oversubscription, 1);
}

// Where hosts have several adapters, one without a name could be any of them.
TEST(IbFabric, UnnamedAdaptersOfRails) {
  IbFabric fabric;
  fabric.switches.resize(1);
  fabric.switches[0].hosts = {{"a", "1", 100, 1}, {"a", "2", 100, 2}, {"", "3", 100, 3}};
  const ImportFacts facts = facts_of(fabric, "ib");
  EXPECT_EQ(facts.hosts.size(), 1U);
  EXPECT_THAT(facts.notes.left_out, ElementsAre("1 adapter that no host has named (ib)"));
}

TEST(IbFabric, NoHosts) {
  IbFabric fabric;
  fabric.switches.resize(2);
  EXPECT_EQ(message_of([&] { static_cast<void>(facts_of(fabric, "ib")); }).substr(0, 42),
            "ib: no host is attached to a switch; lines");
}

}  // namespace
}  // namespace nest::cluster
