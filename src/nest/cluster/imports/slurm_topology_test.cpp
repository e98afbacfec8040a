#include "nest/cluster/imports/slurm_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(read_slurm_topology({"t.conf", text})); });
}
std::string yaml_refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(read_slurm_yaml({"t.yaml", text})); });
}

TEST(SlurmTopology, TwoSpinesOverTheSameLeaves) {
  const ImportFacts facts = read_slurm_topology({"t.conf",
                                                 "switchname=l1 nodes=n[1-2] LinkSpeed=100\nSwitchName=l2 "
                                                 "\\\n  Nodes=n[3-4]\nSwitchName=s1 Switches=l[1-2]\n"
                                                 "SwitchName=s2 Switches=l[1-2] # the second\n"});
  ASSERT_EQ(facts.hosts.size(), 4U);
  ASSERT_EQ(facts.tiers.size(), 2U);
  EXPECT_EQ(facts.hosts[0].domains[1], facts.hosts[3].domains[1]);
  EXPECT_EQ(facts.hosts[0].domains[0], facts.hosts[1].domains[0]);
  EXPECT_NE(facts.hosts[1].domains[0], facts.hosts[2].domains[0]);
}

TEST(SlurmTopology, WhatScontrolShowsOfIt) {
  const ImportFacts facts =
      read_slurm_topology({"t.txt",
                           "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-1]\n"
                           "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[2-3]\n"
                           "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-3] Switches=s[0-1]\n"});
  EXPECT_EQ(facts.hosts.size(), 4U);
  EXPECT_TRUE(facts.notes.assumed.empty());
}

TEST(SlurmTopology, BlocksAndBlocksOfBlocks) {
  const ImportFacts facts =
      read_slurm_topology({"t.conf",
                           "BlockName=b1 Nodes=n[01-18]\nBlockName=b2 Nodes=n[19-36]\nBlockName=b3 "
                           "Nodes=n[37-54]\nBlockSizes=18,36\n"});
  ASSERT_EQ(facts.tiers.size(), 2U);
  EXPECT_EQ(facts.tiers[1].name, "blocks-of-36");
  EXPECT_EQ(facts.hosts[0].domains[1], facts.hosts[35].domains[1]);
  EXPECT_NE(facts.hosts[0].domains[1], facts.hosts[36].domains[1]);
  EXPECT_EQ(facts.hosts[0].links, "b1");
}

TEST(SlurmTopology, MistakesAreSaidWithTheirLine) {
  EXPECT_EQ(refusal("SwitchName=a Node=n1\n"), "t.conf: line 1: unknown key 'Node'; did you mean 'Nodes'?");
  EXPECT_EQ(refusal("SwitchName=a Nodes=n[1-2], n3\n"),
            "t.conf: line 1: 'n3' is no KEY=VALUE; lists of names have no blanks: Nodes=node[01-04],node07");
  EXPECT_EQ(refusal("\nSwitchName=a Nodes=n1\nSwitchName=leaf2 Nodes=n2\nSwitchName=s Switches=a,leaf1\n"),
            "t.conf: line 4: there is no switch 'leaf1'; did you mean 'leaf2'?");
  EXPECT_EQ(refusal("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
            "t.conf: line 2: the switch 'a' is described twice");
  EXPECT_EQ(refusal("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            "t.conf: line 1: the switch 'a' is above itself");
  EXPECT_EQ(refusal("SwitchName=a\n"), "t.conf: line 1: the switch 'a' has neither nodes nor switches");
  EXPECT_EQ(refusal("Nodes=n1\n"),
            "t.conf: line 1: a line begins with SwitchName=, BlockName=, BlockSizes= or RingName=");
  EXPECT_EQ(refusal("BlockName=a Nodes=n1\nSwitchName=s Nodes=n1\n"),
            "t.conf: switches, blocks and rings are described in one file; Slurm takes one kind of topology: "
            "leave the others "
            "out");
  EXPECT_EQ(refusal("BlockName=a Nodes=n1\nBlockSizes=30,45\n"),
            "t.conf: block sizes are multiples of the first, each larger than the one before, not 45");
  EXPECT_EQ(refusal("# nothing\n"),
            "t.conf: no switches, blocks or rings are described; a line is like 'SwitchName=leaf1 "
            "Nodes=node[001-032]'");
  EXPECT_EQ(refusal("SwitchName=a Nodes=n[1-999999999]\n"),
            "t.conf: line 1: 'n[1-999999999]' is too many names");
}

TEST(SlurmYaml, TheDefaultTopologyCounts) {
  const std::string text = R"(- topology: small
  tree:
    switches: [{switch: sw, nodes: "n[01-02]"}]
- topology: torus
  cluster_default: true
  torus3d:
    toruses:
    - name: t1
      dims: {x: 2, y: 2, z: 1}
      nodes: n[01-04]
      placements: [{dims: {x: 2, y: 1, z: 1}}]
- topology: flat
  flat: true
)";
  const ImportFacts facts = read_slurm_yaml({"t.yaml", text});
  ASSERT_EQ(facts.tiers.size(), 1U);
  EXPECT_EQ(facts.tiers[0].kind, LevelKind::torus);
  EXPECT_THAT(facts.tiers[0].dims, ElementsAre(2, 2, 1));
  EXPECT_EQ(facts.hosts.size(), 4U);
  EXPECT_THAT(facts.notes.left_out, ElementsAre("the topology 'small' of t.yaml: 'torus' is taken",
                                                "the topology 'flat' of t.yaml: 'torus' is taken"));
}

TEST(SlurmYaml, MistakesAreSaidWithTheirLine) {
  EXPECT_EQ(yaml_refusal("- topology: a\n  tree:\n    switches:\n    - switch: s\n      node: n1\n"),
            "t.yaml: line 5, topologies[0].tree.switches[0]: unknown key 'node'; did you mean 'nodes'?");
  EXPECT_EQ(yaml_refusal("topology: a\n"),
            "t.yaml: a list of topologies is expected; each entry is like '- topology: default'");
  EXPECT_EQ(
      yaml_refusal(
          "- topology: a\n  torus3d:\n    toruses:\n    - {name: t, dims: {x: 0, y: 1, z: 1}, nodes: n1}\n"),
      "t.yaml: line 4, topologies[0].torus3d.toruses[0].dims.x: 0 is outside 1 to 4,096");
}

}  // namespace
}  // namespace nest::cluster
