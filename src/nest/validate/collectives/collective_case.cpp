// What a row of measurements says about the cluster that it was measured on.
#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "nest/validate/collectives/collective_rows.hpp"

namespace nest::validate {
namespace {

constexpr double kGb = 1e9;
constexpr double kNodeDevices = 8;  // where a row has no figure
constexpr double kManyNodes = 4;    // "multi-node", where the number is not printed
constexpr double kPcieGen5 = 64e9;  // x16, one direction

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The catalogued accelerator that a description means; empty where it names none.
std::string accelerator_of(const std::string& hardware) {
  static constexpr std::array<std::array<std::string_view, 2>, 13> kNames{{{"GB300", "gb300"},
                                                                           {"B300", "b300"},
                                                                           {"GB200", "gb200"},
                                                                           {"B200", "b200"},
                                                                           {"H200", "h200"},
                                                                           {"H800", "h800"},
                                                                           {"H100", "h100-sxm"},
                                                                           {"A100-SXM4-40", "a100-40"},
                                                                           {"A100", "a100-80"},
                                                                           {"V100", "v100"},
                                                                           {"MI300X", "mi300x"},
                                                                           {"v6e", "tpu-v6e"},
                                                                           {"PCIe Gen5", "h100-pcie"}}};
  for (const auto& [word, name] : kNames) {
    if (has(hardware, word)) return std::string(name);
  }
  return "";
}

// "4x100 Gbps", "3200 Gbps per node", "8x50 GBps", "300 GBps/dir", "900 GB/s": all links together, bytes per
// second.
std::optional<double> rate_in(const std::string& text) {
  static const std::regex kRate(R"((?:(\d+)x)?(\d+(?:\.\d+)?) ?(Gbps|GBps|GB/s|Gb\b))");
  std::smatch m;
  if (!std::regex_search(text, m, kRate)) return std::nullopt;
  const double links = m[1].matched ? std::stod(m[1].str()) : 1;
  const bool bytes = m[3].str().at(1) == 'B';
  return links * std::stod(m[2].str()) * kGb / (bytes ? 1 : 8);
}

std::string network_fabric(const std::string& link, const Accelerator& accelerator) {
  if (has(link, "EFA")) return accelerator.aws_fabric.empty() ? "efa-p5" : accelerator.aws_fabric;
  if (has(link, "Omni-Path")) return "omni-path";
  if (has(link, "TCPX")) return "tcpx";
  return has(link, "Ethernet") ? "ethernet" : "infiniband";
}

// Published rows of accelerators without links of their own are of cards in slots.
std::string node_fabric(const Accelerator& accelerator) {
  return accelerator.scale_up.fabric.empty() ? "pcie" : accelerator.scale_up.fabric;
}

// NVLink SHARP is on unless the row says that a plain ring was used.
bool switch_adds(const Accelerator& accelerator, const std::string& algorithm) {
  if (!accelerator.scale_up.reduction) return false;
  const bool ring_only = has(algorithm, "Ring") && !has(algorithm, "NVLS");
  return !ring_only && !has(algorithm, "off");
}

// A total over both directions counts twice; a psum's printed figure counts both passes, like a bus bandwidth
// (as a plain rate it would be above what the links carry).
std::optional<Seconds> measured_time(const CollectiveRow& row, CollectiveKind kind, double message,
                                     double n) {
  if (row.time_us && row.message_bytes) return Seconds{*row.time_us * 1e-6};
  const double factor = bus_factor(kind, n);
  if (row.algorithm_gb_per_s) {
    return Seconds{message / (*row.algorithm_gb_per_s * kGb) * (has(row.collective, "psum") ? factor : 1)};
  }
  if (!row.bus_gb_per_s) return std::nullopt;
  const double both = has(row.collective, "bidirectional") ? 2 : 1;
  return Seconds{message * factor * both / (*row.bus_gb_per_s * kGb)};
}

std::string unusable(const CollectiveRow& row, CollectiveKind kind, const std::string& accelerator) {
  if (has(row.notes, "FLAG")) return "flagged by its source";
  if (has(row.notes, "problem noted")) return "its source reports a faulty network";
  if (kind == CollectiveKind::none) return "no collective of ours: " + row.collective;
  if (accelerator.empty() && !rate_in(row.inter_link)) {
    return row.hardware.empty() || has(row.hardware, "not stated") ? "hardware not stated"
                                                                   : "hardware not known: " + row.hardware;
  }
  if (row.devices == 1.0) return "one device has nobody to talk to";
  return "";
}

Level node_level(const Accelerator& accelerator, const CollectiveRow& row, double devices) {
  const bool slots = accelerator.scale_up.fabric.empty();
  const auto links = accelerator.scale_up_bandwidth;
  Level level{.name = "node", .latency = Seconds{1e-6}};
  level.fan_out.size = static_cast<std::int32_t>(devices);
  level.bandwidth = BytesPerSecond{
      rate_in(row.intra_link).value_or(slots ? kPcieGen5 : links.value_or(BytesPerSecond{kPcieGen5}).value)};
  level.in_network_reduction = switch_adds(accelerator, row.algorithm);
  if (accelerator.scale_up.point_to_point) level.kind = LevelKind::fully_connected;
  if (accelerator.scale_up.torus > 0) {
    const auto side = static_cast<std::int32_t>(std::lround(std::sqrt(devices)));
    level.kind = LevelKind::torus;
    level.dims = {side, static_cast<std::int32_t>(devices) / side};
    level.wrap = {true, true};
  }
  return level;
}

}  // namespace

CollectiveKind collective_named(std::string_view text) {
  struct Word {
    std::string_view word;
    CollectiveKind kind;
  };
  static constexpr std::array<Word, 9> kWords{{{"all_reduce", CollectiveKind::all_reduce},
                                               {"psum", CollectiveKind::all_reduce},
                                               {"reduce_scatter", CollectiveKind::reduce_scatter},
                                               {"all_gather", CollectiveKind::all_gather},
                                               {"all2all", CollectiveKind::all_to_all},
                                               {"alltoall", CollectiveKind::all_to_all},
                                               {"all_to_all", CollectiveKind::all_to_all},
                                               {"broadcast", CollectiveKind::broadcast},
                                               {"p2p", CollectiveKind::send}}};
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return has(text, w.word); });
  return found == kWords.end() ? CollectiveKind::none : found->kind;
}

double bus_factor(CollectiveKind kind, double members) {
  if (kind == CollectiveKind::all_reduce) return 2 * (members - 1) / members;
  return kind == CollectiveKind::send || kind == CollectiveKind::broadcast ? 1 : (members - 1) / members;
}

CollectiveCaseOr collective_case(const CollectiveRow& row) {
  const CollectiveKind kind = collective_named(row.collective);
  const std::string name = accelerator_of(row.hardware);
  if (const std::string why = unusable(row, kind, name); !why.empty()) return {std::nullopt, why};
  const Accelerator& accelerator = find_accelerator(name.empty() ? "a100-80" : name);

  const bool one_node = row.inter_link.empty() && row.nodes.value_or(1) == 1;
  const double nodes = one_node ? 1 : row.nodes.value_or(kManyNodes);
  const double devices = row.devices.value_or(nodes * kNodeDevices);
  const std::string node = node_fabric(accelerator);
  const double size = accelerator.scale_up.torus > 0
                          ? devices
                          : std::max(row.devices_per_node.value_or(kNodeDevices), devices / nodes);

  CollectiveCase out{.kind = kind, .devices = static_cast<std::int32_t>(devices)};
  out.large = !row.message_bytes;
  out.message = out.large ? kLargeMessage : round_up_bytes(*row.message_bytes);
  const auto measured = measured_time(row, kind, static_cast<double>(out.message.value), devices);
  if (!measured) return {std::nullopt, "neither a time with its size nor a bandwidth"};
  out.measured = *measured;

  ClusterParts parts{.name = row.id, .accelerator = accelerator};
  parts.levels.push_back(node_level(accelerator, row, size));
  out.fabrics.push_back(node);
  if (nodes > 1) {
    const auto nic = accelerator.nic_bandwidth;
    const double together = rate_in(row.inter_link).value_or(nic ? nic->value * size : 0);
    if (together <= 0) return {std::nullopt, "the network's bandwidth is not stated"};
    Level level{.name = "network", .bandwidth = BytesPerSecond{together / size}};
    level.fan_out.size = static_cast<std::int32_t>(nodes);
    level.latency = Seconds{has(row.inter_link, "EFA") ? 15e-6 : 5e-6};
    level.in_network_reduction = has(row.inter_link, "SHARP");
    parts.levels.push_back(level);
    out.fabrics.push_back(network_fabric(row.inter_link, accelerator));
  }
  out.cluster.emplace(std::move(parts));
  return {std::move(out), ""};
}

}  // namespace nest::validate
