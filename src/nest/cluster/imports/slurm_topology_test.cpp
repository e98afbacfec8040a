#include "nest/cluster/imports/slurm_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(read_slurm_topology({"t.conf", text})); });
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

}  // namespace
}  // namespace nest::cluster
