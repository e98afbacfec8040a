#include "nest/cluster/imports/slurm_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(SlurmNetwork, BlocksAndBlocksOfBlocks) {
  SlurmNetwork network;
  network.file = "t.conf";
  network.blocks = {{.name = "b1", .nodes = "n[01-18]"},
                    {.name = "b2", .nodes = "n[19-36]"},
                    {.name = "b3", .nodes = "n[37-54]"}};
  network.block_sizes = {18, 36};
  const ImportFacts facts = facts_of(network);
  ASSERT_EQ(facts.tiers.size(), 2U);
  EXPECT_EQ(facts.tiers[1].name, "blocks-of-36");
  EXPECT_EQ(facts.hosts[0].domains[1], facts.hosts[35].domains[1]);
  EXPECT_NE(facts.hosts[0].domains[1], facts.hosts[36].domains[1]);
  EXPECT_EQ(facts.hosts[0].links, "b1");
}

// A leaf right below the core, and another one two tiers below it: both are leaves.
TEST(SlurmNetwork, TreesOfUnequalDepth) {
  SlurmNetwork network;
  network.file = "t.conf";
  network.switches = {{.name = "l1", .nodes = "a"},
                      {.name = "l2", .nodes = "b"},
                      {.name = "s", .children = "l2"},
                      {.name = "core", .children = "l1,s"}};
  const ImportFacts facts = facts_of(network);
  ASSERT_EQ(facts.tiers.size(), 3U);
  EXPECT_NE(facts.hosts[0].domains[1], facts.hosts[1].domains[1]);
  EXPECT_EQ(facts.hosts[0].domains[2], facts.hosts[1].domains[2]);
}

TEST(SlurmNetwork, ANodeBelowTwoSwitches) {
  SlurmNetwork network;
  network.file = "t.conf";
  network.switches = {{.name = "l1", .nodes = "a,b"}, {.name = "l2", .nodes = "b,c"}};
  const ImportFacts facts = facts_of(network);
  EXPECT_EQ(facts.hosts.size(), 3U);
  EXPECT_EQ(facts.hosts[0].domains[0], facts.hosts[1].domains[0]);
  EXPECT_THAT(facts.notes.assumed,
              ElementsAre("the first place of what is listed twice: 1 host (b) in t.conf"));
}

TEST(SlurmNetwork, ToriOfOneShape) {
  SlurmNetwork network;
  network.file = "t.yaml";
  network.toruses = {{.name = "t1", .nodes = "a[1-4]", .line = 3, .dims = {2, 2, 1}},
                     {.name = "t2", .nodes = "b[1-2]", .line = 9, .dims = {2, 1, 1}}};
  EXPECT_EQ(message_of([&] { static_cast<void>(facts_of(network)); }),
            "t.yaml: line 9: the toruses 't1' and 't2' have different sides; one level has one shape");
  network.toruses.pop_back();
  EXPECT_THAT(facts_of(network).tiers.front().dims, ElementsAre(2, 2, 1));
}

// A short file can list very many names, again and again.
TEST(SlurmNetwork, NamesAreCounted) {
  SlurmNetwork network;
  network.file = "t.conf";
  for (int i = 0; i < 20; ++i)
    network.switches.push_back({.name = "s" + std::to_string(i), .nodes = "n[0-99999]", .line = i + 1});
  EXPECT_EQ(message_of([&] { static_cast<void>(facts_of(network)); }),
            "t.conf: line 11: 'n[0-99999]' is too many names");
}

}  // namespace
}  // namespace nest::cluster
