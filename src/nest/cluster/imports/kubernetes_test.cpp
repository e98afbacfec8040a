#include "nest/cluster/imports/kubernetes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

std::string node(const std::string& name, const std::string& labels, const std::string& capacity,
                 const std::string& usable, const std::string& ready = "True", const std::string& spec = "") {
  return R"({"kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {)" + labels +
         R"(}}, "spec": {)" + spec + R"(}, "status": {"capacity": {"nvidia.com/gpu": ")" + capacity +
         R"("}, "allocatable": {"nvidia.com/gpu": ")" + usable +
         R"("}, "conditions": [{"type": "Ready", "status": ")" + ready + R"("}]}})";
}

ImportFacts read(const std::string& nodes) {
  return read_kubernetes_nodes(
      {"n.json", R"({"apiVersion": "v1", "kind": "List", "items": [)" + nodes + "]}"});
}

TEST(KubernetesNodes, DevicesThatCannotBeAllocated) {
  const ImportFacts facts = read(node("a", "", "8", "7") + "," + node("b", "", "8", "0") + "," +
                                 node("c", "", "0", "0") + "," + node("d", "", "8", "8", "Unknown") + "," +
                                 node("e", "", "8", "8", "True", R"("unschedulable": true)"));
  EXPECT_EQ(facts.hosts[0].devices, 7);
  EXPECT_EQ(facts.hosts[0].out, "");
  EXPECT_EQ(facts.hosts[1].devices, 8);
  EXPECT_EQ(facts.hosts[1].out, "none of its accelerators can be allocated");
  EXPECT_EQ(facts.hosts[2].devices, 0);
  EXPECT_EQ(facts.hosts[3].out, "not ready");
  EXPECT_EQ(facts.hosts[4].out, "cordoned");
}

TEST(KubernetesNodes, TheNewestLabelsCount) {
  const std::string labels =
      R"("fabric.topograph.run/tier-0": "l1", "fabric.topograph.run/tier-1": "s1", "network.topology.nvidia.com/leaf": "old",
         "nvidia.com/gpu.clique": "c.1", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "node.kubernetes.io/instance-type": "mine")";
  const ImportFacts facts = read(node("a", labels, "8", "8"));
  EXPECT_THAT(facts.hosts[0].domains, ElementsAre("l1", "s1"));
  EXPECT_EQ(facts.hosts[0].links, "c.1");
  EXPECT_EQ(facts.hosts[0].chip, "NVIDIA-H100-80GB-HBM3");
  // A type of one's own means nothing elsewhere, and can still be picked.
  EXPECT_EQ(facts.hosts[0].type, "");
  EXPECT_THAT(facts.hosts[0].groups, ElementsAre("mine"));
}

TEST(KubernetesNodes, ZonesAndRegions) {
  const auto at = [](const char* zone, const char* region) {
    return std::string(R"("topology.kubernetes.io/zone": ")") + zone +
           R"(", "topology.kubernetes.io/region": ")" + region + R"(")";
  };
  const ImportFacts one =
      read(node("a", at("z1", "r1"), "8", "8") + "," + node("b", at("z2", "r1"), "8", "8"));
  ASSERT_EQ(one.tiers.size(), 2U);
  EXPECT_DOUBLE_EQ(one.tiers[1].latency->value, 1e-3);
  const ImportFacts two =
      read(node("a", at("z1", "r1"), "8", "8") + "," + node("b", at("z2", "r2"), "8", "8"));
  ASSERT_EQ(two.tiers.size(), 3U);
  EXPECT_DOUBLE_EQ(two.tiers[2].latency->value, 30e-3);
  EXPECT_THAT(two.hosts[1].domains, ElementsAre("z2", "r2", "all"));
  // Nodes without accelerators, such as control planes, may be elsewhere.
  EXPECT_TRUE(
      read(node("a", at("z1", "r1"), "8", "8") + "," + node("b", at("z2", "r2"), "0", "0")).tiers.empty());
}

TEST(KubernetesNodes, Mistakes) {
  EXPECT_EQ(message_of([] { static_cast<void>(read(R"({"kind": "Node", "status": {}})")); }),
            "n.json: line 1, items[0]: a node without metadata.name; kubectl get nodes -o json has it");
  EXPECT_EQ(message_of([] { static_cast<void>(read("")); }), "n.json: the list of nodes is empty");
  EXPECT_EQ(
      message_of([] { static_cast<void>(read(node("a", "", "8", "8") + "," + node("a", "", "8", "8"))); }),
      "n.json: the node 'a' is listed twice");
}

}  // namespace
}  // namespace nest::cluster
