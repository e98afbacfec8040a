#include "nest/cluster/imports/nccl_graph.hpp"

#include <set>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/device_links.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
NodeFacts node_of_graphs(const XmlElement& graphs, const std::string& file, const std::string& accelerator,
                         ImportNotes& notes) {
  std::vector<std::string> gpus;  // in the order of the first channel
  std::set<std::string> known;
  std::set<std::string> nics;
  bool links = false;
  for (const XmlElement& graph : graphs.children) {
    if (graph.name != "graph") continue;
    links = links || graph.attribute("typeintra") == "NVL" || graph.attribute("typeintra") == "XGMI";
    for (const XmlElement& channel : graph.children) {
      for (const XmlElement& stop : channel.children) {
        const std::string dev(stop.attribute("dev"));
        if (stop.name == "net") nics.insert(dev);
        if (stop.name == "gpu" && digits_of(dev) && known.insert(dev).second) gpus.push_back("gpu" + dev);
      }
    }
  }
  if (gpus.empty())
    throw InputError(file, "", "no channel of a graph has a GPU",
                     "NCCL_GRAPH_DUMP_FILE writes <channel> with <gpu dev=..>");
  if (gpus.size() > kMostInMatrix)
    throw InputError(file, "", std::to_string(gpus.size()) + " GPUs in one host");
  NodeFacts node;
  node.source = own_name(file);
  node.accelerator = accelerator;
  if (node.accelerator.empty()) {
    node.accelerator = import_defaults().accelerator;
    notes.assumed.push_back("the accelerator is " + node.accelerator +
                            ": graphs name none; --accelerator says otherwise");
  }
  const Accelerator& chip = find_accelerator(node.accelerator);
  node.devices = static_cast<std::int32_t>(gpus.size());
  node.levels = {links ? level_of_links(chip, node.devices) : level_of_slots(node.devices, usual_pcie(chip))};
  node.device_names = std::move(gpus);
  if (!nics.empty()) node.nics = static_cast<double>(nics.size());
  notes.known.push_back(count_of(node.devices, "GPU") + " and " +
                        count_of(static_cast<std::int64_t>(nics.size()), "network interface") +
                        " in NCCL's channels (" + own_name(file) + "), GPUs in the order of the first one");
  notes.assumed.push_back(
      links ? "the links are those of " + node.accelerator + ": graphs have the speeds that NCCL asked for"
            : "PCI Express between the accelerators of a host, as is usual for " + node.accelerator);
  return node;
}

}  // namespace nest::cluster
