#include "nest/cluster/imports/device_links.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/reduce/reduce.hpp"

namespace nest::cluster {
namespace {

// Ways over PCI Express: what is left of its rate, and how many latencies of it a message takes.
struct PathFigures {
  double share = 1;
  double latencies = 1;
};
PathFigures path_figures(WayKind kind) {
  constexpr PathFigures kAcrossSockets{0.5, 1.5};
  return kind == WayKind::system ? kAcrossSockets : PathFigures{};
}

BytesPerSecond link_rate(const Accelerator& accelerator) {
  constexpr double kUsualPeers = 7;
  if (const auto rate = rate_of_link(accelerator)) return *rate;
  return accelerator.scale_up_bandwidth.value_or(pcie_rate(usual_pcie(accelerator))) * (1 / kUsualPeers);
}

PairFigures figures_of(const Way& way, const Accelerator& accelerator, int pcie) {
  if (way.kind == WayKind::links && way.links > 0)
    return {link_rate(accelerator).value * way.links, import_defaults().inner_latency.value};
  const PathFigures path = path_figures(way.kind);
  return {pcie_rate(pcie).value * path.share, import_defaults().pcie_latency.value * path.latencies};
}

bool all_alike(const DeviceLinks& links) {
  return std::all_of(links.ways.begin(), links.ways.end(), [&](const Way& way) {
    return way.kind == links.ways.front().kind && way.links == links.ways.front().links;
  });
}

// A pair may have as many links as a device has in all only where a switch is between them.
bool over_switch(const DeviceLinks& links, const Accelerator& accelerator) {
  if (accelerator.scale_up.point_to_point) return false;
  const double own =
      accelerator.scale_up_bandwidth.value_or(BytesPerSecond{0}).value / link_rate(accelerator).value;
  const auto peers = static_cast<double>(links.names.size() - 1);
  return links.ways.front().links * peers > own * 1.01;
}

std::string spelled(const DeviceLinks& links) {
  std::map<std::string, int> counts;
  for (const Way& way : links.ways) {
    static constexpr std::array<const char*, 5> kNames{"links", "a PCI Express switch", "a host bridge",
                                                       "one socket", "two sockets"};
    const bool hops = way.kind == WayKind::links && way.links < 1;
    std::string name = hops ? "over " + std::to_string(std::lround(1 / way.links)) + " hops"
                       : way.kind == WayKind::links
                           ? std::to_string(std::lround(way.links)) + (way.links == 1 ? " link" : " links")
                           : std::string("over ") + kNames[static_cast<std::size_t>(way.kind)];
    ++counts[name];
  }
  std::string out;
  for (const auto& [name, count] : counts)
    out += (out.empty() ? "" : ", ") + count_of(count, "pair") + " " + name;
  return out;
}

}  // namespace

std::size_t DeviceLinks::slot(std::size_t a, std::size_t b) const {
  if (a < b) std::swap(a, b);
  return a * (a - 1) / 2 + b;
}

DeviceLinks no_links(std::vector<std::string> names) {
  DeviceLinks out;
  const std::size_t n = names.size();
  out.ways.resize(n * (n - std::min<std::size_t>(n, 1)) / 2);
  out.names = std::move(names);
  return out;
}

void set_levels(const DeviceLinks& links, const Accelerator& accelerator, NodeFacts& node,
                ImportNotes& notes) {
  const auto devices = static_cast<std::int32_t>(links.names.size());
  node.devices = devices;
  node.device_names = links.names;
  if (devices < 2) {
    node.levels = {accelerator.scale_up_bandwidth ? level_of_links(accelerator, devices)
                                                  : level_of_slots(devices, usual_pcie(accelerator))};
    return;
  }
  const bool any_slots = std::any_of(links.ways.begin(), links.ways.end(),
                                     [](const Way& w) { return w.kind != WayKind::links; });
  const int pcie = links.pcie > 0 ? links.pcie : usual_pcie(accelerator);
  if (links.pcie == 0 && any_slots)
    notes.assumed.push_back("PCI Express " + std::to_string(pcie) + ".0 with 16 lanes for each accelerator");
  if (all_alike(links)) {
    const Way& way = links.ways.front();
    const PairFigures pair = figures_of(way, accelerator, pcie);
    Level level = level_of_slots(devices, pcie);
    level.bandwidth = BytesPerSecond{pair.bandwidth};
    level.latency = Seconds{pair.latency};
    if (way.kind == WayKind::links) {
      level = level_of_links(accelerator, devices);
      const bool switched = links.switched || over_switch(links, accelerator);
      level.kind = switched ? LevelKind::switched : LevelKind::fully_connected;
      level.in_network_reduction = switched && accelerator.scale_up.reduction;
      level.bandwidth = BytesPerSecond{pair.bandwidth * level.links(devices)};
    }
    node.levels = {std::move(level)};
    return;
  }
  MeasuredPairs pairs{links.names, PairTable(devices), {}};
  for (std::int32_t a = 1; a < devices; ++a) {
    for (std::int32_t b = 0; b < a; ++b)
      pairs.table.at(a, b) =
          figures_of(links.way(static_cast<std::size_t>(a), static_cast<std::size_t>(b)), accelerator, pcie);
  }
  const Reduction reduced = reduce_pairs(std::move(pairs), "host", accelerator);
  node.levels = reduced.cluster.levels();
  node.device_names = reduced.device_names;
  for (std::size_t l = 0; l < node.levels.size(); ++l) {
    const std::size_t outside = node.levels.size() - 1 - l;
    node.levels[l].name = outside == 0 ? "node" : outside == 1 ? "island" : "island-" + std::to_string(l);
    // What a level is made of would else be guessed by its bandwidth.
    const auto own = accelerator.scale_up_bandwidth.value_or(BytesPerSecond{0});
    const bool slots = any_slots && node.levels[l].bandwidth.value <= 1.01 * pcie_rate(pcie).value;
    if (slots)
      node.levels[l].fabric = "pcie";
    else if (node.levels[l].bandwidth.value < own.value / 2)
      node.levels[l].fabric = accelerator.scale_up.fabric;
  }
  notes.known.push_back("links inside a host are uneven (" + spelled(links) + "), reduced to " +
                        count_of(static_cast<std::int64_t>(node.levels.size()), "level") +
                        "; the worst pair is off by " +
                        std::to_string(std::lround(100 * reduced.worst_error)) + " %");
}

}  // namespace nest::cluster
