#include "nest/cluster/imports/host_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::Contains;
using testing::HasSubstr;

ImportFacts one(const std::string& type, const std::string& chip) {
  ImportFacts facts;
  HostFacts& host = facts.host("n1", "list", 4);
  host.type = type;
  host.chip = chip;
  return facts;
}

HostKind kind(const std::string& type, const std::string& chip, const std::string& stated = "") {
  ImportFacts facts = one(type, chip);
  return find_host_kind(facts, stated);
}

TEST(HostKind, TheTypeTheChipOrWhatIsStated) {
  EXPECT_EQ(kind("p5en.48xlarge", "").accelerator.name, "h200");
  EXPECT_EQ(kind("p5en.48xlarge", "").fabric, "efa-p5");
  EXPECT_DOUBLE_EQ(kind("p4d.24xlarge", "").network.value, 50e9);
  EXPECT_EQ(kind("", "NVIDIA-GB200").devices, 4);
  EXPECT_EQ(kind("", "NVIDIA-GB200").domain, 18);
  EXPECT_EQ(kind("gpu_8x_h100_sxm5", "").accelerator.name, "h100-sxm");
  EXPECT_EQ(kind("p5en.48xlarge", "", "b200").accelerator.name, "b200");
  EXPECT_EQ(kind("", "NVIDIA L40S", "h100-pcie").levels.front().fabric, "pcie");
  EXPECT_EQ(kind("", "", "a100-80").levels.front().fabric, "");
  EXPECT_EQ(kind("trn2.48xlarge", "").levels.front().kind, LevelKind::torus);
}

TEST(HostKind, WhatIsNotKnown) {
  EXPECT_EQ(message_of([] { static_cast<void>(kind("", "NVIDIA L40S")); }),
            "list: line 4: no figures are known of 'NVIDIA L40S'; name a like accelerator with "
            "--accelerator; 'nest clusters "
            "--accelerators' lists those known");
  EXPECT_EQ(message_of([] { static_cast<void>(kind("p5.48xlrge", "")); }),
            "list: line 4: the instance type 'p5.48xlrge' is not known; did you mean 'p5.48xlarge'?");
  EXPECT_EQ(message_of([] { static_cast<void>(kind("", "a100_3g.20gb")); }),
            "list: line 4: 'a100_3g.20gb' is a slice of a GPU (MIG); plans are made for whole ones");
}

TEST(HostKind, AssumptionsAreNamed) {
  ImportFacts facts = one("", "a100");
  static_cast<void>(find_host_kind(facts, ""));
  EXPECT_THAT(facts.notes.assumed,
              Contains("80 GB of memory for 'a100' (a100-80); --accelerator says otherwise"));
  EXPECT_THAT(facts.notes.assumed, Contains(HasSubstr("8 accelerators in a host")));
  ImportFacts shared = one("", "h100");
  shared.node = NodeFacts{.source = "topo.txt", .nics = 1};
  EXPECT_EQ(find_host_kind(shared, "").network_assumed,
            "50 GB/s of network for a host: 1 network interface at what is usual for h100-sxm");
}

TEST(HostKind, HostsOfAnotherSizeThanTheFileAboutOne) {
  ImportFacts facts = one("", "h100");
  facts.hosts.front().devices = 8;
  facts.node = NodeFacts{.source = "topo.txt", .devices = 4};
  facts.node->levels.emplace_back();
  EXPECT_EQ(message_of([&] { static_cast<void>(find_host_kind(facts, "")); }),
            "topo.txt: it describes a host with 4 accelerators, but most hosts have 8; --only picks hosts "
            "that are like it");
}

}  // namespace
}  // namespace nest::cluster
