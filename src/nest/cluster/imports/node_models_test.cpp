#include "nest/cluster/imports/node_models.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/imports/importers.hpp"

namespace nest::cluster {
namespace {

std::string chip(const char* name) {
  const Chip* found = find_chip(name);
  return found == nullptr ? "" : found->accelerator;
}

TEST(NodeModels, AcceleratorsByTheNamesThatOthersGiveThem) {
  // Drivers, Slurm's types, labels of Kubernetes.
  EXPECT_EQ(chip("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(chip("nvidia_h100_80gb_hbm3"), "h100-sxm");
  EXPECT_EQ(chip("NVIDIA-H100-80GB-HBM3"), "h100-sxm");
  EXPECT_EQ(chip("h100"), "h100-sxm");
  EXPECT_EQ(chip("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(chip("NVIDIA H100 NVL"), "h100-nvl");
  EXPECT_EQ(chip("nvidia-h100-mega-80gb"), "h100-sxm");
  EXPECT_EQ(chip("NVIDIA H200"), "h200");
  EXPECT_EQ(chip("NVIDIA GB200"), "gb200");
  EXPECT_EQ(chip("NVIDIA B200"), "b200");
  EXPECT_EQ(chip("NVIDIA A100-SXM4-40GB"), "a100-40");
  EXPECT_EQ(chip("NVIDIA-A100-SXM4-80GB"), "a100-80");
  EXPECT_EQ(chip("nvidia-a100-80gb"), "a100-80");
  EXPECT_EQ(chip("Tesla V100-SXM2-32GB"), "v100");
  EXPECT_EQ(chip("Tesla V100-SXM2-16GB"), "v100-16");
  EXPECT_EQ(chip("AMD Instinct MI300X OAM"), "mi300x");
  EXPECT_EQ(chip("tpu-v5-lite-podslice"), "tpu-v5e");
  EXPECT_EQ(chip("tpu-v5p-slice"), "tpu-v5p");
  // Others have parts of these names.
  EXPECT_EQ(chip("NVIDIA RTX A1000"), "");
  EXPECT_EQ(chip("NVIDIA L40S"), "");
  EXPECT_EQ(chip("Tesla T4"), "");
  EXPECT_EQ(find_chip_by_pci("10DE:2330")->accelerator, "h100-sxm");
  EXPECT_EQ(find_chip_by_pci("10de:ffff"), nullptr);
}

TEST(NodeModels, NamesStandForOneServerEach) {
  std::map<std::string, std::string> seen;
  for (const NodeModel& node : node_models()) {
    ASSERT_FALSE(node.names.empty());
    for (const std::string& name : node.names) {
      EXPECT_TRUE(seen.try_emplace(name, node.accelerator).second) << name << " stands twice";
      EXPECT_EQ(find_node_model(name), &node);
    }
    EXPECT_TRUE(node.network.has_value()) << node.names.front();
    std::int32_t devices = node.levels.empty() ? node.devices : 1;
    for (const Level& level : node.levels) devices *= level.fan_out.size;
    EXPECT_EQ(devices, node.devices) << node.names.front();
  }
  EXPECT_EQ(find_node_model("P5.48XLARGE")->accelerator, "h100-sxm");
  EXPECT_EQ(find_node_model("p5.49xlarge"), nullptr);
}

// What the catalog says of a published cluster, and what an import makes of the name of its servers.
TEST(NodeModels, NamesBecomeTheCataloguedClusters) {
  struct Twin {
    const char* kind;
    const char* name;
    std::int64_t count;
    const char* catalogued;
  };
  for (const Twin& twin :
       {Twin{"dgx", "DGX-H100", 127, "dgx-h100-superpod-127"},
        Twin{"dgx", "DGX H100", 128, "dgx-h100-superpod"}, Twin{"dgx", "DGX-H200", 128, "dgx-h200-superpod"},
        Twin{"dgx", "GB200-NVL72", 128, "gb200-nvl72"}, Twin{"dgx", "GB300-NVL72", 128, "gb300-nvl72"},
        Twin{"aws", "p5.48xlarge", 128, "aws-p5"},
        Twin{"azure", "Standard_ND96isr_H100_v5", 128, "azure-ndv5"},
        Twin{"gcp", "a3-megagpu-8g", 128, "gcp-a3-mega"}, Twin{"gcp", "a3-highgpu-8g", 128, "gcp-a3"},
        Twin{"tpu", "v5p-256", 1, "tpu-v5p-256"}, Twin{"tpu", "v4-4096", 1, "tpu-v4-4096"},
        Twin{"tpu", "v5e-256", 1, "tpu-v5e-256"}, Twin{"tpu", "v5litepod-128", 1, "tpu-v5e-128"},
        Twin{"tpu", "v5e-256", 8, "tpu-v5e-multislice"}, Twin{"tpu", "v6e-256", 1, "tpu-v6e-256"},
        Twin{"tpu", "tpu7x-256", 1, "tpu7x-256"}}) {
    ClusterImport question{
        .kind = twin.kind, .files = {{twin.name, ""}}, .nodes = {}, .inside = {}, .options = {}};
    question.options.count = twin.count;
    const Cluster got = import_cluster(question).cluster;
    const Cluster known = catalog_cluster(twin.catalogued);
    EXPECT_EQ(got.device_name(), known.device_name()) << twin.catalogued;
    ASSERT_EQ(got.levels().size(), known.levels().size()) << twin.catalogued;
    for (std::size_t l = 0; l < known.levels().size(); ++l) {
      Level level = got.levels()[l];
      level.name = known.levels()[l].name;
      EXPECT_EQ(to_json(level_file_value(level)), to_json(level_file_value(known.levels()[l])))
          << twin.catalogued;
    }
  }
}

}  // namespace
}  // namespace nest::cluster
