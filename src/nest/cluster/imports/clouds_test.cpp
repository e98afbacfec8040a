#include "nest/cluster/imports/clouds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(Clouds, AwsListsNodesFromTheOutside) {
  const ImportFacts facts = read_aws({"t.json", R"({"Instances": [
    {"InstanceId": "i-1", "InstanceType": "p5.48xlarge", "NetworkNodes": ["nn-spine", "nn-mid", "nn-leaf"], "CapacityBlockId": "cb-1"},
    {"InstanceId": "i-2", "InstanceType": "p5.48xlarge"}]})"});
  EXPECT_THAT(facts.hosts[0].domains, ElementsAre("nn-leaf", "nn-mid", "nn-spine"));
  EXPECT_EQ(facts.hosts[0].links, "cb-1");
  EXPECT_TRUE(facts.hosts[1].domains.empty());
  ASSERT_EQ(facts.tiers.size(), 3U);
  EXPECT_EQ(facts.tiers[0].name, "layer3");
}

TEST(Clouds, AwsTypesThatNobodyKnows) {
  const ImportFacts facts = read_aws({"t.json", R"({"InstanceTypes": [{"InstanceType": "p9.big",
    "GpuInfo": {"Gpus": [{"Name": "H200", "Count": 8}]},
    "NetworkInfo": {"NetworkCards": [{"BaselineBandwidthInGbps": 100.0}, {"BaselineBandwidthInGbps": 100}]}}]})"});
  EXPECT_EQ(facts.node->accelerator, "h200");
  EXPECT_EQ(facts.node->devices, 8);
  EXPECT_DOUBLE_EQ(facts.node->network->value, 25e9);
  // What the table has stands there.
  EXPECT_FALSE(
      read_aws(
          {"t.json",
           R"({"InstanceTypes": [{"InstanceType": "p5.48xlarge", "GpuInfo": {"Gpus": [{"Name": "H100", "Count": 8}]}}]})"})
          .node.has_value());
}

TEST(Clouds, GoogleNamesByAddresses) {
  const ImportFacts facts =
      read_gcp({"i.json", R"([{"name": "a", "machineType": "https://x/zones/z1/machineTypes/a3-ultragpu-8g",
    "zone": "https://x/zones/z1", "status": "STOPPED",
    "resourceStatus": {"physicalHostTopology": {"cluster": "c", "block": "b", "subblock": "s", "host": "h"}}}, {"name": "b"}])"});
  EXPECT_EQ(facts.hosts[0].type, "a3-ultragpu-8g");
  EXPECT_THAT(facts.hosts[0].domains, ElementsAre("s", "b", "c"));
  EXPECT_EQ(facts.hosts[0].out, "stopped");
  EXPECT_EQ(facts.hosts[1].domains[0], "");
}

TEST(Clouds, OracleSpellsKeysInThreeWays) {
  for (
      const char* text :
      {R"({"data": {"items": [{"display-name": "h", "shape": "BM.GPU.H100.8", "local-block-id": "l", "network-block-id": "n", "hpc-island-id": "i"}]}})",
       R"({"items": [{"displayName": "h", "shape": "BM.GPU.H100.8", "localBlockId": "l", "networkBlockId": "n", "hpcIslandId": "i"}]})",
       R"([{"customerHostId": "h", "shape": "BM.GPU.H100.8", "customerLocalBlock": "l", "customerNetworkBlock": "n", "customerHPCIslandId": "i"}])"}) {
    EXPECT_TRUE(is_oci(text));
    const ImportFacts facts = read_oci({"h.json", text});
    ASSERT_EQ(facts.hosts.size(), 1U) << text;
    EXPECT_EQ(facts.hosts[0].name, "h");
    EXPECT_THAT(facts.hosts[0].domains, ElementsAre("l", "n", "i")) << text;
  }
}

TEST(Clouds, AzureHasSizesAlone) {
  const ImportFacts facts = read_azure(
      {"v.json",
       R"([{"name": "v", "hardwareProfile": {"vmSize": "Standard_ND96isr_H100_v5"}, "powerState": "VM stopped"},
    {"name": "w", "sku": {"name": "Standard_ND96isr_H100_v5"}}])"});
  EXPECT_EQ(facts.hosts[1].type, "Standard_ND96isr_H100_v5");
  EXPECT_EQ(facts.hosts[0].out, "VM stopped");
  EXPECT_TRUE(facts.tiers.empty());
}

TEST(Clouds, MistakesAreSaidWithTheirPlace) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(read_aws(
                  {"t.json", "{\"Instances\": [\n{\"InstanceId\": \"a\"},\n{\"InstanceId\": \"a\"}]}"}));
            }),
            "t.json: line 3, Instances[1]: the instance 'a' is listed twice");
  EXPECT_EQ(message_of([] {
              static_cast<void>(
                  read_aws({"t.json", R"({"Instances": [{"InstanceId": "a", "NetworkNodes": "x"}]})"}));
            }),
            "t.json: line 1, Instances[0]: 'NetworkNodes' is a list of three or four nodes of the network");
  EXPECT_EQ(message_of([] { static_cast<void>(read_gcp({"t.json", "[]"})); }),
            "t.json: the list of instances is empty");
  EXPECT_EQ(message_of([] { static_cast<void>(read_azure({"t.json", R"([{"vmSize": "x"}])"})); }),
            "t.json: line 1, [0]: an instance without a name");
}

}  // namespace
}  // namespace nest::cluster
