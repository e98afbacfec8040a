#include "nest/cluster/imports/slurm_nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(SlurmNodes, GpusAmongGenericResources) {
  const auto gpus = [](const char* text) {
    const SlurmGpus got = gpus_of(text);
    return got.chip + "*" + std::to_string(got.count);
  };
  EXPECT_EQ(gpus("gpu:h100:8"), "h100*8");
  EXPECT_EQ(gpus("gpu:h100:8(S:0-1),mps:400"), "h100*8");
  EXPECT_EQ(gpus("shard:16,gpu:a100:4(S:0,2),gpu:a100:4(S:1,3)"), "a100*8");
  EXPECT_EQ(gpus("gpu:nvidia_h100_80gb_hbm3:8"), "nvidia_h100_80gb_hbm3*8");
  EXPECT_EQ(gpus("gpu:8"), "*8");
  EXPECT_EQ(gpus("gpu"), "*1");
  EXPECT_EQ(gpus("gpu:h100"), "h100*1");
  EXPECT_EQ(gpus("gpumem:80"), "*0");
  EXPECT_EQ(gpus("(null)"), "*0");
  EXPECT_EQ(gpus("gpu:99999999999"), "*1025");  // more than a host may have, which is said there
}

TEST(SlurmNodes, StatesThatTakeNoWork) {
  for (const char* state : {"IDLE", "MIXED", "ALLOCATED", "alloc", "mix", "idle~", "IDLE+CLOUD+POWERED_DOWN",
                            "resv", "maint", "POWERING_DOWN", "COMPLETING", ""})
    EXPECT_EQ(out_of_service(state), "") << state;
  for (const char* state : {"IDLE+DRAIN", "drain", "drained*", "drng", "MIXED+DRAINING"})
    EXPECT_EQ(out_of_service(state), "drained") << state;
  for (const char* state : {"DOWN", "down*", "DOWN*+CLOUD"})
    EXPECT_EQ(out_of_service(state), "down") << state;
  EXPECT_EQ(out_of_service("idle*"), "not responding");
  EXPECT_EQ(out_of_service("IDLE+NOT_RESPONDING"), "not responding");
  EXPECT_EQ(out_of_service("FAILING"), "failed");
  EXPECT_EQ(out_of_service("FUTURE"), "not there yet");
}

TEST(SlurmNodes, ConfigurationBeginsUnknown) {
  const ImportFacts facts = read_scontrol_nodes(
      {"slurm.conf",
       "# nodes\nNodeName=DEFAULT CPUs=96\nNodeName=n[01-02] Gres=gpu:h100:8 State=UNKNOWN\n"
       "NodeName=cpu1 CPUs=64 State=UNKNOWN\nPartitionName=gpu Nodes=n[01-02] Default=YES\n"});
  ASSERT_EQ(facts.hosts.size(), 3U);
  EXPECT_EQ(facts.hosts[0].out, "");
  EXPECT_EQ(facts.hosts[1].name, "n02");
  EXPECT_EQ(facts.hosts[2].devices, 0);
}

TEST(SlurmNodes, TablesOfSinfo) {
  const ImportFacts facts =
      read_sinfo({"sinfo.txt",
                  "Mon Nov 16 10:00:00 2026\nPARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                  "gpu*         up   infinite      2  drain n[1-2]\n"
                  "gpu*         up   infinite      1   idle n3\nnone        up   infinite      0    n/a\n"
                  "long         up   7-00:00:00    1   idle n3\n"});
  ASSERT_EQ(facts.hosts.size(), 3U);
  EXPECT_EQ(facts.hosts[1].out, "drained");
  EXPECT_EQ(facts.hosts[2].out, "");
  EXPECT_THAT(facts.hosts[2].groups, ElementsAre("gpu", "long"));
  const ImportFacts wide = read_sinfo({"sinfo.txt", "NODELIST STATE GRES\nn[1-2] mixed gpu:h100:8(S:0-1)\n"});
  EXPECT_EQ(wide.hosts[0].devices, 8);
  EXPECT_EQ(wide.hosts[0].chip, "h100");
}

TEST(SlurmNodes, WhatCannotBeRead) {
  EXPECT_EQ(message_of([] { static_cast<void>(read_scontrol_nodes({"n.txt", "NodeName=n[1-\n"})); }),
            "n.txt: line 1: 'n[1-' has no closing bracket");
  EXPECT_EQ(message_of([] { static_cast<void>(read_sinfo({"n.txt", "PARTITION NODES\n"})); }),
            "n.txt: no table of sinfo with the columns NODELIST and STATE or GRES; sinfo -N -o '%N %T %G' "
            "prints one");
}

}  // namespace
}  // namespace nest::cluster
