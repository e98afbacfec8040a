#include "nest/cluster/imports/host_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

ImportFacts hosts() {
  ImportFacts facts;
  facts.sources = {"list"};
  for (const char* name : {"n1", "n2", "n3", "login"}) {
    HostFacts& host = facts.host(name, "list", 0);
    host.listed = true;
    host.devices = host.name == "login" ? 0 : 8;
    host.type = host.name == "n3" ? "p4d.24xlarge" : "p5.48xlarge";
    host.groups = {host.name == "n1" ? "night" : "day"};
  }
  return facts;
}

std::vector<std::string> left(const std::string& only) {
  ImportFacts facts = hosts();
  choose_hosts(facts, only);
  std::vector<std::string> names;
  for (const HostFacts& host : facts.hosts) names.push_back(host.name);
  return names;
}

TEST(HostChoice, ByNameTypeAndGroup) {
  EXPECT_THAT(left(""), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(left("n[2-9]"), ElementsAre("n2", "n3"));
  EXPECT_THAT(left("p5.48xlarge"), ElementsAre("n1", "n2"));
  EXPECT_THAT(left("day"), ElementsAre("n2", "n3"));
  EXPECT_THAT(left("night,n3"), ElementsAre("n1", "n3"));
}

TEST(HostChoice, WhatIsLeftOutIsNamed) {
  ImportFacts facts = hosts();
  choose_hosts(facts, "n1,login");
  EXPECT_THAT(facts.notes.left_out,
              ElementsAre("2 hosts (n2, n3): not picked by --only", "1 host (login): without accelerators"));
}

TEST(HostChoice, NothingIsLeft) {
  EXPECT_EQ(message_of([] { static_cast<void>(left("n[1-")); }), "--only: 'n[1-' has no closing bracket");
  EXPECT_EQ(message_of([] { static_cast<void>(left("p5.48xlrge")); }),
            "--only: no host is called 'p5.48xlrge'; did you mean 'p5.48xlarge'?");
  EXPECT_EQ(message_of([] { static_cast<void>(left("login")); }),
            "list: no host has accelerators; Slurm calls them GRES, Kubernetes nvidia.com/gpu and the like");
}

TEST(HostChoice, HostsOfBothFiles) {
  ImportFacts facts = hosts();
  facts.host("n1", "", 0).placed = true;
  facts.host("n9", "net", 3).placed = true;
  choose_hosts(facts, "");
  ASSERT_EQ(facts.hosts.size(), 1U);
  EXPECT_EQ(facts.hosts.front().name, "n1");
}

}  // namespace
}  // namespace nest::cluster
