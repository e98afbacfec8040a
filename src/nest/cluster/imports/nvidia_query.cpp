#include <optional>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/device_links.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/nvidia_smi.hpp"
#include "nest/cluster/imports/text_lines.hpp"
#include "nest/cluster/imports/xml.hpp"

namespace nest::cluster {
namespace {

std::optional<int> pcie_generation(const XmlElement& gpu) {
  const XmlElement* info = gpu.child("pci");
  if (info != nullptr) info = info->child("pci_gpu_link_info");
  if (info != nullptr) info = info->child("pcie_gen");
  if (info == nullptr) return std::nullopt;
  // An idle GPU slows its link down: what it can do counts.
  for (const char* key : {"max_link_gen", "max_device_link_gen", "current_link_gen"}) {
    if (const auto generation = digits_of(info->text_of(key));
        generation && *generation > 0 && *generation < 10)
      return static_cast<int>(*generation);
  }
  return std::nullopt;
}

// Which racks of accelerators' links it is in, where they reach that far.
std::string clique_of(const XmlElement& gpu) {
  const XmlElement* fabric = gpu.child("fabric");
  if (fabric == nullptr) return "";
  const std::string cluster(fabric->text_of("clusterUuid"));
  const bool none =
      cluster.empty() || cluster == "N/A" || cluster.find_first_not_of("0-") == std::string::npos;
  return none ? "" : cluster + "." + std::string(fabric->text_of("cliqueId"));
}

}  // namespace

bool is_nvidia_query(std::string_view text) {
  return holds(text.substr(0, 4096), "<nvidia_smi_log");
}

ImportFacts read_nvidia_query(const ImportFile& file, const std::string& accelerator) {
  const XmlElement root = parse_xml(file.name, file.text);
  std::vector<const XmlElement*> gpus;
  for (const XmlElement& child : root.children) {
    if (child.name == "gpu") gpus.push_back(&child);
  }
  if (root.name != "nvidia_smi_log" || gpus.empty())
    throw InputError(file.name, "", "no GPU is described",
                     "nvidia-smi -q -x writes <nvidia_smi_log> with a <gpu> for each");
  if (gpus.size() > kMostInMatrix)
    throw InputError(file.name, "", std::to_string(gpus.size()) + " GPUs in one host");
  ImportFacts facts;
  NodeFacts node;
  node.source = own_name(file.name);
  node.devices = static_cast<std::int32_t>(gpus.size());
  std::set<std::string> accelerators;
  for (const XmlElement* gpu : gpus) {
    const std::string product(gpu->text_of("product_name"));
    if (const XmlElement* mig = gpu->child("mig_mode");
        mig != nullptr && mig->text_of("current_mig") == "Enabled")
      fail_line(file.name, gpu->line, "the GPU is divided (MIG is enabled)", "plans are made for whole ones");
    const Chip* chip = accelerator.empty() ? find_chip(product) : chip_of(accelerator);
    if (chip == nullptr && !accelerator.empty()) {
      node.accelerator = accelerator;
      continue;
    }
    if (chip == nullptr)
      fail_line(
          file.name, gpu->line,
          product.empty() ? "a GPU without product_name" : "no figures are known of '" + product + "'",
          "name a like accelerator with --accelerator; 'nest clusters --accelerators' lists those known");
    node.accelerator = chip->accelerator;
    accelerators.insert(chip->accelerator);
    if (!chip->assumed.empty()) facts.notes.assumed.push_back(chip->assumed + " for '" + product + "'");
    if (chip->slots) node.levels = {level_of_slots(node.devices, pcie_generation(*gpu).value_or(chip->pcie))};
    if (const XmlElement* rows = gpu->child("remapped_rows");
        rows != nullptr && rows->text_of("remapped_row_failure") == "Yes")
      facts.notes.assumed.push_back(
          "GPU " + std::string(gpu->attribute("id")) +
          " is as good as the others, although a row of its memory could not be remapped: "
          "'absent' in the cluster file leaves it out");
  }
  if (accelerators.size() > 1) {
    std::string names;
    for (const std::string& name : accelerators) names += (names.empty() ? "" : " and ") + name;
    throw InputError(file.name, "", "the host has different accelerators: " + names,
                     "a cluster has one kind for now");
  }
  const auto attached = digits_of(root.text_of("attached_gpus"));
  if (attached && *attached > node.devices)
    facts.notes.left_out.push_back(count_of(*attached - node.devices, "GPU") +
                                   " that the driver counts and does not describe");
  facts.notes.known.push_back(count_of(node.devices, "GPU") + " " +
                              std::string(gpus.front()->text_of("product_name")) + " in a host (" +
                              own_name(file.name) + ")");
  if (const std::string clique = clique_of(*gpus.front()); !clique.empty())
    facts.notes.known.push_back("its NVLinks reach over the domain " + clique +
                                ", whose other hosts this file does not have");
  facts.node = std::move(node);
  facts.sources.push_back(own_name(file.name) + " (nvidia-smi)");
  return facts;
}

}  // namespace nest::cluster
