#include "nest/cluster/imports/nccl_xml.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/imports/device_links.hpp"
#include "nest/cluster/imports/nccl_graph.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"
#include "nest/cluster/imports/xml.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kMostOfADump = 4096;
constexpr std::int64_t kMostLinks = 1000;
constexpr double kMegabit = 1e6 / 8;  // bytes

// Elements from the root of a host down to a device.
using Trail = std::vector<const XmlElement*>;

struct Gpu {
  Trail trail;
  const XmlElement* pci = nullptr;
  const XmlElement* gpu = nullptr;  // nullptr where the file has the PCI tree alone
};
struct Nic {
  Trail trail;
  std::string name;
  double rate = 0;  // bytes per second; 0: not known
};
struct Host {
  std::string hash;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
};

bool has_class(const XmlElement& pci, std::string_view prefix) {
  return pci.attribute("class").starts_with(prefix);
}

class Walker {
 public:
  std::vector<Host> walk(const XmlElement& system) {
    for (const XmlElement& cpu : system.children) {
      if (cpu.name != "cpu") continue;
      Host& host = host_of(cpu.attribute("host_hash"));
      Trail trail{&cpu};
      for (const XmlElement& child : cpu.children) visit(child, trail, host);
    }
    return std::move(hosts_);
  }

 private:
  Host& host_of(std::string_view hash) {
    const auto [at, fresh] = index_.try_emplace(std::string(hash), hosts_.size());
    if (fresh) hosts_.push_back({std::string(hash), {}, {}});
    return hosts_[at->second];
  }

  void visit(const XmlElement& element, Trail& trail, Host& host) {
    trail.push_back(&element);
    if (element.name == "pci") {
      const XmlElement* gpu = element.child("gpu");
      constexpr std::array<std::string_view, 4> kGpus{"0x0302", "0x0300", "0x1200", "0x0380"};
      const bool device =
          std::any_of(kGpus.begin(), kGpus.end(), [&](auto c) { return has_class(element, c); });
      if (gpu != nullptr || (device && element.children.empty())) host.gpus.push_back({trail, &element, gpu});
      const bool bare_nic =
          (has_class(element, "0x0207") || has_class(element, "0x0200")) && element.children.empty();
      if (bare_nic) host.nics.push_back({trail, std::string(element.attribute("busid")), 0});
    }
    if (element.name == "net") {
      const std::optional<double> megabits = parse_number(element.attribute("speed"));
      const double rate = megabits && *megabits > 0 && *megabits < 1e9 ? *megabits * kMegabit : 0;
      // The second port of an interface whose first one is listed shares what reaches it over PCI Express.
      host.nics.push_back({trail, std::string(element.attribute("name")), rate});
    }
    for (const XmlElement& child : element.children) visit(child, trail, host);
    trail.pop_back();
  }

  std::vector<Host> hosts_;
  std::map<std::string, std::size_t> index_;
};

std::size_t common(const Trail& a, const Trail& b) {
  std::size_t n = 0;
  while (n < std::min(a.size(), b.size()) && a[n] == b[n]) ++n;
  return n;
}

// Over how much of the tree two devices meet: below the CPU in a bridge, at the CPU, or beyond it.
WayKind meet(const Trail& a, const Trail& b) {
  const std::size_t n = common(a, b);
  return n == 0 ? WayKind::system : n == 1 ? WayKind::host_bridge : WayKind::bridge;
}

std::int64_t whole(std::string_view text, std::int64_t most) {
  const auto value = digits_of(text);
  return value && *value <= most ? *value : 0;
}

// Links by what they lead to: switches, or other GPUs by their bus numbers.
struct OwnLinks {
  double switched = 0;
  std::map<std::string, double> direct;
};
OwnLinks links_of(const Gpu& gpu) {
  OwnLinks out;
  if (gpu.gpu == nullptr) return out;
  for (const XmlElement& link : gpu.gpu->children) {
    if (link.name != "nvlink" && link.name != "xgmi") continue;
    const auto count = static_cast<double>(whole(link.attribute("count"), kMostLinks));
    if (link.attribute("tclass").starts_with("0x0680"))
      out.switched += count;
    else
      out.direct[lower_case(link.attribute("target"))] += count;
  }
  return out;
}

int pcie_generation(const XmlElement& pci) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kSpeeds{
      {{"2.5", 1}, {"5", 2}, {"8", 3}, {"16", 4}, {"32", 5}, {"64", 6}}};
  const std::string_view speed = pci.attribute("link_speed");
  const std::string_view number = speed.substr(0, speed.find(' '));
  for (const auto& [rate, generation] : kSpeeds) {
    if (number == rate || number == std::string(rate) + ".0") return generation;
  }
  return 0;
}

DeviceLinks links_between(const Host& host) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < host.gpus.size(); ++g) {
    const XmlElement* gpu = host.gpus[g].gpu;
    const std::string dev(gpu != nullptr ? gpu->attribute("dev") : "");
    names.push_back("gpu" + (digits_of(dev) ? dev : std::to_string(g)));
  }
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size()) {
    for (std::size_t g = 0; g < names.size(); ++g) names[g] = "gpu" + std::to_string(g);
  }
  DeviceLinks links = no_links(names);
  links.pcie = pcie_generation(*host.gpus.front().pci);
  std::vector<OwnLinks> own;
  own.reserve(host.gpus.size());
  for (const Gpu& gpu : host.gpus) own.push_back(links_of(gpu));
  for (std::size_t a = 1; a < names.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto direct = own[a].direct.find(lower_case(host.gpus[b].pci->attribute("busid")));
      double count = std::min(own[a].switched, own[b].switched);
      links.switched = links.switched || count > 0;
      if (direct != own[a].direct.end()) count += direct->second;
      links.way(a, b) =
          count > 0 ? Way{WayKind::links, count} : Way{meet(host.gpus[a].trail, host.gpus[b].trail), 0};
    }
  }
  return links;
}

// What the GPUs' own traffic takes: for each the interfaces that are nearest to it.
void set_network(const Host& host, NodeFacts& node) {
  std::set<std::size_t> used;
  for (const Gpu& gpu : host.gpus) {
    std::size_t best = 0;
    for (const Nic& nic : host.nics) best = std::max(best, common(gpu.trail, nic.trail));
    for (std::size_t n = 0; n < host.nics.size(); ++n) {
      if (common(gpu.trail, host.nics[n].trail) == best) used.insert(n);
    }
  }
  if (used.empty()) return;
  double rate = 0;
  bool known = true;
  for (const std::size_t n : used) {
    rate += host.nics[n].rate;
    known = known && host.nics[n].rate > 0;
  }
  if (known)
    node.network = BytesPerSecond{rate};
  else
    node.nics = static_cast<double>(used.size());
}

std::string accelerator_of(const ImportFile& file, const Host& host, ImportNotes& notes) {
  const Gpu& first = host.gpus.front();
  const auto hex = [&](std::string_view key) {
    const std::string_view text = first.pci->attribute(key);
    return lower_case(text.starts_with("0x") ? text.substr(2) : text);
  };
  if (const Chip* chip = find_chip_by_pci(hex("vendor") + ":" + hex("device"))) return chip->accelerator;
  struct Generation {
    std::string_view sm;
    const char* accelerator;
  };
  constexpr std::array kGenerations{Generation{"70", "v100"}, Generation{"80", "a100-80"},
                                    Generation{"90", "h100-sxm"}, Generation{"100", "b200"},
                                    Generation{"103", "b300"}};
  if (first.gpu != nullptr && first.gpu->attribute("gcn").empty()) {
    const std::string_view sm = first.gpu->attribute("sm");
    for (const Generation& g : kGenerations) {
      if (g.sm != sm) continue;
      notes.assumed.push_back(std::string(g.accelerator) + ", which has sm_" + std::string(sm) +
                              " as others do; --accelerator says otherwise");
      return g.accelerator;
    }
  }
  throw InputError(
      file.name, line_place(first.pci->line), "nothing says which GPU this is",
      "name it with --accelerator; PCI vendor and device are '" + hex("vendor") + ":" + hex("device") + "'");
}

}  // namespace

bool is_nccl_xml(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return holds(head, "<system") || holds(head, "<graphs");
}

ImportFacts read_nccl_xml(const ImportFile& file, const std::string& accelerator) {
  const XmlElement root = parse_xml(file.name, file.text);
  ImportFacts facts;
  facts.sources.push_back(own_name(file.name) + " (NCCL)");
  if (root.name == "graphs") {
    facts.node = node_of_graphs(root, file.name, accelerator, facts.notes);
    return facts;
  }
  if (root.name != "system")
    throw InputError(file.name, line_place(root.line),
                     "<" + root.name + "> is no <system> or <graphs> of NCCL");
  std::vector<Host> hosts = Walker().walk(root);
  std::erase_if(hosts, [](const Host& host) { return host.gpus.empty(); });
  if (hosts.empty())
    throw InputError(file.name, "", "no GPU is described",
                     "<gpu> elements, or <pci> of class 0x0302, say where GPUs are");
  const Host& first = hosts.front();
  if (first.gpus.size() > kMostInMatrix || hosts.size() > kMostOfADump)
    throw InputError(file.name, "", std::to_string(first.gpus.size()) + " GPUs in one host");
  NodeFacts node;
  node.source = own_name(file.name);
  node.accelerator = !accelerator.empty() ? accelerator : accelerator_of(file, first, facts.notes);
  const DeviceLinks links = links_between(first);
  const bool tree_alone = first.gpus.front().gpu == nullptr;
  if (tree_alone && find_accelerator(node.accelerator).scale_up_bandwidth) {
    // The file leaves links to the driver.
    node.devices = static_cast<std::int32_t>(first.gpus.size());
    node.device_names = links.names;
    node.levels = {level_of_links(find_accelerator(node.accelerator), node.devices)};
    facts.notes.assumed.push_back("the links between GPUs are those of " + node.accelerator +
                                  ": the file has the PCI tree alone");
  } else {
    set_levels(links, find_accelerator(node.accelerator), node, facts.notes);
  }
  set_network(first, node);
  facts.notes.known.push_back(count_of(node.devices, "GPU") + " and " +
                              count_of(static_cast<std::int64_t>(first.nics.size()), "network interface") +
                              " in a host (" + own_name(file.name) + ")");
  if (hosts.size() > 1) {
    facts.count = static_cast<std::int64_t>(hosts.size());
    HostFacts host;
    host.file = file.name;
    host.links = "all";  // one dump is of GPUs that see each other
    facts.hosts.push_back(std::move(host));
  }
  facts.node = std::move(node);
  return facts;
}

}  // namespace nest::cluster
