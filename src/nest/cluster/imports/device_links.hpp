// What joins the accelerators of a host, pair by pair, as levels. One kind of link between all of them is one level, a
// switch or a link for each pair; otherwise the pairs are reduced to the levels that err least (reduce/reduce.hpp), and
// devices keep their names in the new order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/cluster/accelerator.hpp"
#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// Of one host.
inline constexpr std::size_t kMostInMatrix = 64;

// Kinds of ways from the nearest to the farthest.
enum class WayKind : std::uint8_t { links, bridge, host_bridge, node, system };

struct Way {
  WayKind kind = WayKind::system;
  double links = 0;  // of the accelerators' own, bonded
};

struct DeviceLinks {
  std::vector<std::string> names;  // of the devices
  std::vector<Way> ways;           // of a < b, row by row: see slot
  int pcie = 0;                    // generation of PCI Express; 0: not known
  bool switched = false;           // links lead to switches, as the file says

  [[nodiscard]] std::size_t slot(std::size_t a, std::size_t b) const;
  [[nodiscard]] Way& way(std::size_t a, std::size_t b) { return ways[slot(a, b)]; }
  [[nodiscard]] const Way& way(std::size_t a, std::size_t b) const { return ways[slot(a, b)]; }
};
[[nodiscard]] DeviceLinks no_links(std::vector<std::string> names);

// Fills in levels, names and devices of the host.
void set_levels(const DeviceLinks& links, const Accelerator& accelerator, NodeFacts& node,
                ImportNotes& notes);

}  // namespace nest::cluster
