#include "nest/validate/runs/run_cluster.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/validate/runs/fitted.hpp"

namespace nest::validate {
namespace {

constexpr double kGb = 1e9;
constexpr std::int64_t kUsualNode = 8;
constexpr Seconds kNodeLatency{1e-6};  // those of usual_cluster
constexpr Seconds kNetworkLatency{5e-6};
constexpr Seconds kSliceNetworkLatency{50e-6};  // as data/clusters/tpu-v5e-multislice.yaml

const Accelerator* find(const std::string& name) {
  const auto all = accelerators();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Accelerator& a) { return a.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// The network's name in data/fabrics.yaml; empty: InfiniBand or RoCE.
std::string network_fabric(const RunRow& row, const Accelerator& accelerator) {
  if (mentions(row.network, "omni-path")) return "omni-path";
  if (mentions(row.network, "tcpx")) return "tcpx";
  if (mentions(row.network, "efa")) return accelerator.aws_fabric.empty() ? "efa-p5" : accelerator.aws_fabric;
  return mentions(row.network, "ethernet") || mentions(row.network, "dcn") ? "ethernet" : "";
}

std::string name_of_cluster(const std::string& fabric) {
  return fabric.empty() ? "run" : "run-" + fabric;
}

std::int64_t node_size(const RunRow& row, const Accelerator& accelerator) {
  const std::int64_t devices = *row.devices;
  if (const auto domain = static_cast<std::uint64_t>(accelerator.scale_up.domain); domain > 0) {
    // Jobs that need several racks take as many devices of each as the greatest power of two.
    const auto used = static_cast<std::int64_t>(std::bit_floor(domain));
    if (devices <= accelerator.scale_up.domain) return devices;
    return devices % used == 0 ? used : accelerator.scale_up.domain;
  }
  return std::min(devices, row.devices_per_node.value_or(kUsualNode));
}

Level level(std::string name, std::int64_t size, BytesPerSecond bandwidth, Seconds latency) {
  Level out{.name = std::move(name), .bandwidth = bandwidth, .latency = latency};
  out.fan_out.size = static_cast<std::int32_t>(size);
  return out;
}

RunCluster nodes(const RunRow& row, const Accelerator& accelerator) {
  const std::int64_t node = node_size(row, accelerator);
  if (*row.devices % node != 0) {
    return {std::nullopt,
            std::to_string(*row.devices) + " devices are no whole number of nodes of " + std::to_string(node),
            {}};
  }
  const auto links = row.intra_gb_per_s ? std::optional(BytesPerSecond{*row.intra_gb_per_s * kGb})
                                        : accelerator.scale_up_bandwidth;
  if (!links) return {std::nullopt, "the links of " + accelerator.name + " are not known", {}};
  const std::string fabric = network_fabric(row, accelerator);
  ClusterParts parts{.name = name_of_cluster(fabric), .accelerator = accelerator};
  parts.levels.push_back(level("node", node, *links, kNodeLatency));
  parts.levels.back().in_network_reduction = accelerator.scale_up.reduction;
  if (*row.devices > node) {
    const auto network = row.inter_gb_per_s ? std::optional(BytesPerSecond{*row.inter_gb_per_s * kGb})
                                            : accelerator.nic_bandwidth;
    if (!network) return {std::nullopt, "the network of " + accelerator.name + " is not known", {}};
    parts.levels.push_back(level("network", *row.devices / node, *network, kNetworkLatency));
    parts.levels.back().fabric = fabric;
  }
  return {Cluster(std::move(parts)), "", {}};
}

// Sides as Google builds them: powers of two, as equal as can be, in two dimensions (v5e, v6e) or three.
std::vector<std::int32_t> slice_sides(std::int64_t chips, std::size_t dimensions) {
  std::vector<std::int32_t> sides(dimensions, 1);
  for (std::int64_t rest = chips; rest > 1; rest /= 2) {
    if (rest % 2 != 0) return {};
    *std::min_element(sides.begin(), sides.end()) *= 2;
  }
  std::sort(sides.begin(), sides.end());
  return sides;
}

// The chips of one slice: "4x64" at the end of an id, else as many as a pod has.
std::int64_t slice_size(const RunRow& row, bool flat) {
  const std::size_t at = row.id.find_last_of("_x");
  if (at != std::string::npos && row.id[at] == 'x' && mentions(row.network, "dcn")) {
    const auto chips = number_after(std::string_view(row.id).substr(at), "x");
    if (chips && *chips > 0 && *row.devices % *chips == 0) return *chips;
  }
  constexpr std::int64_t kFlatPod = 256;
  return flat ? std::min(*row.devices, kFlatPod) : *row.devices;
}

RunCluster slices(const RunRow& row, const Accelerator& accelerator) {
  const bool flat = accelerator.scale_up.torus == 2;
  const std::int64_t chips = slice_size(row, flat);
  const std::vector<std::int32_t> sides =
      slice_sides(chips, static_cast<std::size_t>(accelerator.scale_up.torus));
  if (sides.empty() || *row.devices % chips != 0) {
    return {std::nullopt, "no slice of " + std::to_string(chips) + " chips is known", {}};
  }
  const std::string fabric = *row.devices > chips ? "ethernet" : "";
  ClusterParts parts{.name = name_of_cluster(fabric), .accelerator = accelerator};
  Level slice =
      level("slice", chips, accelerator.scale_up_bandwidth.value_or(BytesPerSecond{1}), kNodeLatency);
  slice.kind = LevelKind::torus;
  slice.dims = sides;
  // docs/facts.md, networks: in two dimensions only sides of 16 wrap; 3-D: every side that is a multiple
  // of 4.
  for (const std::int32_t side : sides) slice.wrap.push_back(flat ? side == 16 : side % 4 == 0);
  parts.levels.push_back(std::move(slice));
  if (*row.devices == chips) return {Cluster(std::move(parts)), "", {}};
  if (!accelerator.nic_bandwidth && !row.inter_gb_per_s) {
    return {std::nullopt, "the network between slices of " + accelerator.name + " is not known", {}};
  }
  const BytesPerSecond network =
      row.inter_gb_per_s ? BytesPerSecond{*row.inter_gb_per_s * kGb} : *accelerator.nic_bandwidth;
  parts.levels.push_back(level("data-centre", *row.devices / chips, network, kSliceNetworkLatency));
  parts.levels.back().fabric = fabric;
  return {Cluster(std::move(parts)), "", chips};
}

}  // namespace

RunCluster run_cluster(const RunRow& row, const std::string& left_out) {
  if (row.accelerator.empty()) return {std::nullopt, "the accelerator is not stated", {}};
  const Accelerator* accelerator = find(row.accelerator);
  if (accelerator == nullptr)
    return {std::nullopt, "the accelerator '" + row.accelerator + "' is not known", {}};
  if (!row.devices) return {std::nullopt, "the number of devices is not stated", {}};
  constexpr std::int64_t kMostStated = 1'000'000;
  if (*row.devices > kMostStated) return {std::nullopt, "more than 1,000,000 devices", {}};
  try {
    const Accelerator fitted = without_fit(*accelerator, left_out);
    return fitted.scale_up.torus > 0 ? slices(row, fitted) : nodes(row, fitted);
  } catch (const InputError& e) {
    return {std::nullopt, e.problem(), {}};
  }
}

}  // namespace nest::validate
