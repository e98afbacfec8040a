// data/nodes.yaml: servers, instance types and accelerators by the names that other programs print, and what an import
// assumes where nothing says it.
//
//   find_node_model("p5.48xlarge")->accelerator          -> "h100-sxm"
//   find_chip("NVIDIA H100 80GB HBM3")->accelerator      -> "h100-sxm"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/cluster/level.hpp"

namespace nest::cluster {

struct Chip {
  std::vector<std::string> words;  // that its name holds
  std::string accelerator;
  std::vector<std::string> pci;  // "10de:2330"
  std::string vendor;
  std::string assumed;  // what the name does not say and the accelerator does
  bool slots = false;   // no switched links join those of a server
  int pcie = 0;         // generation of PCI Express
};

struct NodeModel {
  std::vector<std::string> names;
  std::string vendor;
  std::string accelerator;
  std::int32_t devices = 0;
  std::optional<BytesPerSecond> network;  // of the server
  std::string fabric;
  std::optional<Seconds> latency;
  std::vector<Level> levels;
  bool slots = false;
  std::int32_t unit = 0;    // servers below the first switches; 0: not known
  std::int32_t domain = 0;  // servers that one fabric of links joins; 0: one
  bool checked = true;
  std::string note;
};

// What an import takes where nothing says it.
struct ImportDefaults {
  std::string accelerator;
  std::int32_t devices = 0;
  BytesPerSecond network;
  Seconds inner_latency;
  Seconds pcie_latency;
  Seconds network_latency;
  Seconds tier_latency;
  Seconds zone_latency;
  Seconds region_latency;
};

[[nodiscard]] const ImportDefaults& import_defaults();
[[nodiscard]] std::span<const NodeModel> node_models();
// Letters of either case; nullptr where there is none.
[[nodiscard]] const NodeModel* find_node_model(std::string_view name);
// By the name that a driver, a label or a scheduler gives it, or by "vendor:device" of PCI.
[[nodiscard]] const Chip* find_chip(std::string_view name);
[[nodiscard]] const Chip* find_chip_by_pci(std::string_view number);
[[nodiscard]] const Chip* chip_of(const std::string& accelerator);

// One link of the accelerator in one direction; none where its links are not counted.
[[nodiscard]] std::optional<BytesPerSecond> rate_of_link(const Accelerator& accelerator);
// 16 lanes of a generation of PCI Express, and which one an accelerator has.
[[nodiscard]] BytesPerSecond pcie_rate(int generation);
[[nodiscard]] int usual_pcie(const Accelerator& accelerator);

// The inside of a server with so many of an accelerator, by its own links.
[[nodiscard]] Level level_of_links(const Accelerator& accelerator, std::int32_t devices);
// Without them.
[[nodiscard]] Level level_of_slots(std::int32_t devices, int generation);

}  // namespace nest::cluster
