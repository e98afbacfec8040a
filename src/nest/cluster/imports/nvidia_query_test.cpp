#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nest/cluster/imports/nvidia_smi.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string log(const std::string& gpus) {
  return "<nvidia_smi_log><attached_gpus>2</attached_gpus>" + gpus + "</nvidia_smi_log>";
}

TEST(NvidiaQuery, ProductsAndDomains) {
  const std::string gpu =
      "<gpu id=\"0\"><product_name>NVIDIA GB200</product_name><fabric><state>Completed</state>"
      "<clusterUuid>aaaa-1</clusterUuid><cliqueId>32766</cliqueId></fabric></gpu>";
  const ImportFacts facts = read_nvidia_query({"q.xml", log(gpu + gpu)}, "");
  EXPECT_EQ(facts.node->accelerator, "gb200");
  EXPECT_EQ(facts.node->devices, 2);
  EXPECT_TRUE(facts.node->levels.empty());
  EXPECT_THAT(facts.notes.known, Contains(HasSubstr("domain aaaa-1.32766")));
}

TEST(NvidiaQuery, CardsInSlotsHaveTheirGeneration) {
  const ImportFacts facts = read_nvidia_query(
      {"q.xml",
       log("<gpu id=\"0\"><product_name>NVIDIA H100 PCIe</product_name><pci><pci_gpu_link_info><pcie_gen>"
           "<max_link_gen>4</max_link_gen></pcie_gen></pci_gpu_link_info></pci></gpu>")},
      "");
  EXPECT_DOUBLE_EQ(facts.node->levels.front().bandwidth.value, 32e9);
  EXPECT_THAT(facts.notes.left_out, Contains("1 GPU that the driver counts and does not describe"));
}

TEST(NvidiaQuery, WhatIsRefused) {
  const auto refusal = [](const std::string& gpus, const char* accelerator) {
    return message_of([&] { static_cast<void>(read_nvidia_query({"q.xml", log(gpus)}, accelerator)); });
  };
  const std::string unknown = "<gpu><product_name>NVIDIA L4</product_name></gpu>";
  EXPECT_EQ(refusal(unknown, ""),
            "q.xml: line 1: no figures are known of 'NVIDIA L4'; name a like accelerator with --accelerator; "
            "'nest clusters "
            "--accelerators' lists those known");
  EXPECT_EQ(refusal(unknown, "h100-pcie"), "(no error)");
  EXPECT_EQ(refusal("<gpu><product_name>NVIDIA H100 PCIe</product_name></gpu><gpu><product_name>NVIDIA "
                    "H200</product_name></gpu>",
                    ""),
            "q.xml: the host has different accelerators: h100-pcie and h200; a cluster has one kind for now");
  EXPECT_EQ(refusal("", ""),
            "q.xml: no GPU is described; nvidia-smi -q -x writes <nvidia_smi_log> with a <gpu> for each");
}

}  // namespace
}  // namespace nest::cluster
