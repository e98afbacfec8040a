#include "nest/validate/runs/run_cluster.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/validate/runs/fitted.hpp"

namespace nest::validate {
namespace {

constexpr double kGb = 1e9;
constexpr std::int64_t kUsualNode = 8;
constexpr std::int64_t kRack = 72;        // GPUs of one NVLink domain of GB200 and GB300
constexpr std::int64_t kUsedOfRack = 64;  // what jobs take of each when they need several: a power of two
constexpr Seconds kNodeLatency{1e-6};     // those of usual_cluster
constexpr Seconds kNetworkLatency{5e-6};
constexpr Seconds kSliceNetworkLatency{50e-6};  // as data/clusters/tpu-v5e-multislice.yaml

const Accelerator* find(const std::string& name) {
  const auto all = accelerators();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Accelerator& a) { return a.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_tpu(const std::string& accelerator) {
  return accelerator.starts_with("tpu");
}

// NVSwitch adds up from the third generation on; NCCL uses it by default.
bool switch_adds(const std::string& accelerator) {
  static constexpr std::array<std::string_view, 7> kStarts{"h100-sxm", "h100-96", "h800", "h200",
                                                           "b200",     "b300",    "gb"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view s) { return accelerator.starts_with(s); });
}

// The name under which data/fabrics.yaml has the network's constants; plain "run" is InfiniBand or RoCE.
std::string name_of_network(const RunRow& row) {
  if (mentions(row.network, "omni-path")) return "run-omni-path";
  if (mentions(row.network, "tcpx")) return "run-tcpx";
  if (mentions(row.network, "efa")) {
    if (row.accelerator.starts_with("a100")) return "run-efa-p4";
    return mentions(row.accelerator, "b200") ? "run-efa-p6" : "run-efa-p5";
  }
  return mentions(row.network, "ethernet") || mentions(row.network, "dcn") ? "run-ethernet" : "run";
}

std::int64_t node_size(const RunRow& row) {
  const std::int64_t devices = *row.devices;
  if (row.accelerator == "gb200" || row.accelerator == "gb300") {
    if (devices <= kRack) return devices;
    return devices % kUsedOfRack == 0 ? kUsedOfRack : kRack;
  }
  return std::min(devices, row.devices_per_node.value_or(kUsualNode));
}

Level level(std::string name, std::int64_t size, BytesPerSecond bandwidth, Seconds latency) {
  Level out{.name = std::move(name), .bandwidth = bandwidth, .latency = latency};
  out.fan_out.size = static_cast<std::int32_t>(size);
  return out;
}

RunCluster nodes(const RunRow& row, const Accelerator& accelerator) {
  const std::int64_t node = node_size(row);
  if (*row.devices % node != 0) {
    return {std::nullopt,
            std::to_string(*row.devices) + " devices are no whole number of nodes of " + std::to_string(node),
            {}};
  }
  const auto links = row.intra_gb_per_s ? std::optional(BytesPerSecond{*row.intra_gb_per_s * kGb})
                                        : accelerator.scale_up_bandwidth;
  if (!links) return {std::nullopt, "the links of " + accelerator.name + " are not known", {}};
  ClusterParts parts{.name = name_of_network(row), .accelerator = accelerator};
  parts.levels.push_back(level("node", node, *links, kNodeLatency));
  parts.levels.back().in_network_reduction = switch_adds(accelerator.name);
  if (*row.devices > node) {
    const auto network = row.inter_gb_per_s ? std::optional(BytesPerSecond{*row.inter_gb_per_s * kGb})
                                            : accelerator.nic_bandwidth;
    if (!network) return {std::nullopt, "the network of " + accelerator.name + " is not known", {}};
    parts.levels.push_back(level("network", *row.devices / node, *network, kNetworkLatency));
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
  const bool flat = accelerator.name == "tpu-v5e" || accelerator.name == "tpu-v6e";
  const std::int64_t chips = slice_size(row, flat);
  const std::vector<std::int32_t> sides = slice_sides(chips, flat ? 2 : 3);
  if (sides.empty() || *row.devices % chips != 0) {
    return {std::nullopt, "no slice of " + std::to_string(chips) + " chips is known", {}};
  }
  ClusterParts parts{.name = *row.devices > chips ? "run-ethernet" : "run", .accelerator = accelerator};
  Level slice =
      level("slice", chips, accelerator.scale_up_bandwidth.value_or(BytesPerSecond{1}), kNodeLatency);
  slice.kind = LevelKind::torus;
  slice.dims = sides;
  // FACTS 2-D: only sides of 16 wrap; 3-D: every side that is a multiple of 4.
  for (const std::int32_t side : sides) slice.wrap.push_back(flat ? side == 16 : side % 4 == 0);
  parts.levels.push_back(std::move(slice));
  if (*row.devices == chips) return {Cluster(std::move(parts)), "", {}};
  if (!accelerator.nic_bandwidth && !row.inter_gb_per_s) {
    return {std::nullopt, "the network between slices of " + accelerator.name + " is not known", {}};
  }
  const BytesPerSecond network =
      row.inter_gb_per_s ? BytesPerSecond{*row.inter_gb_per_s * kGb} : *accelerator.nic_bandwidth;
  parts.levels.push_back(level("data-centre", *row.devices / chips, network, kSliceNetworkLatency));
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
    return is_tpu(row.accelerator) ? slices(row, fitted) : nodes(row, fitted);
  } catch (const InputError& e) {
    return {std::nullopt, e.problem(), {}};
  }
}

}  // namespace nest::validate
