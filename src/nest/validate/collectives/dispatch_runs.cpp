#include "nest/validate/collectives/dispatch_runs.hpp"

#include <algorithm>
#include <optional>

#include "nest/base/document/csv.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/estimate/collectives/token_exchange.hpp"

namespace nest::validate {
namespace {

constexpr double kMicro = 1e-6;
constexpr std::int64_t kLimit = 4;  // the benchmark over several nodes sends a token to no more

// "NVIDIA H100 80GB HBM3" -> h100-sxm, "NVIDIA GB200" -> gb200.
const Accelerator* accelerator_of(const std::string& hardware) {
  const std::size_t first = hardware.find(' ') + 1;
  const std::string name = lower_case(hardware.substr(first, hardware.find(' ', first) - first));
  for (const Accelerator& a : accelerators()) {
    if (a.name == name || a.name == name + "-sxm") return &a;
  }
  return nullptr;
}

Level level_of(const char* name, std::int64_t size, BytesPerSecond bandwidth, Seconds latency) {
  Level level{.name = name, .bandwidth = bandwidth, .latency = latency};
  level.fan_out.size = static_cast<std::int32_t>(size);
  return level;
}

std::optional<Cluster> cluster_of(const Accelerator& accelerator, std::int64_t nodes) {
  if (!accelerator.scale_up_bandwidth || (nodes > 1 && !accelerator.nic_bandwidth)) return std::nullopt;
  // Trays of an NVLink rack have four.
  const std::int64_t devices = accelerator.scale_up.domain > 0 ? 4 : 8;
  ClusterParts parts{.name = "dispatch", .accelerator = accelerator};
  parts.levels.push_back(level_of("node", devices, *accelerator.scale_up_bandwidth, Seconds{1e-6}));
  if (nodes > 1)
    parts.levels.push_back(level_of("network", nodes, *accelerator.nic_bandwidth, Seconds{5e-6}));
  return Cluster(std::move(parts));
}

struct Row {
  std::string id;
  std::string hardware;
  std::int64_t nodes = 1;
  double hidden = 0;
  double tokens = 0;
  std::int64_t top_k = 0;
  std::int64_t experts = 0;
};

double number_of(const CsvRow& row, const char* column) {
  const auto value = parse_number(row.text(column));
  if (!value || *value < 0) row.fail(column, "a number that is not below 0");
  return *value;
}

CollectiveResult check(const CsvRow& csv, const Row& row, bool back) {
  const std::string way = back ? "combine" : "dispatch";
  CollectiveResult out{.id = row.id + " " + way,
                       .source = csv.text("source"),
                       .stratum = way + (row.nodes > 1 ? ", several nodes" : ", one node")};
  out.measured = Seconds{
      kMicro * (number_of(csv, (way + "_us").c_str()) + number_of(csv, (way + "_notify_us").c_str()))};
  const Accelerator* accelerator = accelerator_of(row.hardware);
  const std::optional<Cluster> cluster =
      accelerator != nullptr ? cluster_of(*accelerator, row.nodes) : std::nullopt;
  if (!cluster) {
    out.why_skipped = "the hardware '" + row.hardware + "' is not known";
    return out;
  }
  std::vector<DeviceId> ids;
  ids.reserve(static_cast<std::size_t>(cluster->devices()));
  for (std::int32_t i = 0; i < cluster->devices(); ++i) ids.emplace_back(i);
  const TokenRoute route{.dispatcher = Dispatcher::deepep,
                         .experts = row.experts,
                         .top_k = row.top_k,
                         .groups = row.nodes > kLimit ? row.nodes : 0,
                         .limit = row.nodes > kLimit ? kLimit : 0,
                         .token_bytes = 2 * row.hidden,
                         .back = back,
                         .low = true};
  const Bytes rows = round_up_bytes(2 * row.hidden * row.tokens * static_cast<double>(row.top_k));
  const GroupShape shape = group_shape(*cluster, ids);
  const double sms = number_of(csv, (way + "_sms").c_str());
  out.members = cluster->devices();
  out.predicted =
      exchange_cost(route, rows, shape, CollectiveModel(*cluster, fabric_constants(*cluster)), sms).total;
  out.ideal =
      exchange_cost(route, rows, shape, CollectiveModel(*cluster, ideal_constants(*cluster)), sms).total;
  return out;
}

}  // namespace

CollectiveRuns check_dispatches(const std::string& file, std::string_view text) {
  const CsvTable table(file, text);
  table.require({"hardware", "num_nodes", "hidden", "tokens_per_gpu", "topk", "experts", "dispatch_sms",
                 "dispatch_us", "dispatch_notify_us", "combine_sms", "combine_us", "combine_notify_us"});
  std::vector<CollectiveResult> results;
  for (const CsvRow& csv : table.rows()) {
    const auto whole = [&](const char* column) {
      const auto value = csv.whole(column);
      if (!value) csv.fail(column, "a positive whole number");
      return *value;
    };
    Row row{.id = "line " + std::to_string(csv.line()),
            .hardware = csv.text("hardware"),
            .nodes = whole("num_nodes")};
    constexpr std::int64_t kMost = 4096;
    row.hidden = static_cast<double>(whole("hidden"));
    row.tokens = static_cast<double>(whole("tokens_per_gpu"));
    row.top_k = whole("topk");
    row.experts = whole("experts");
    if (row.nodes > kMost || row.experts > (1 << 20) || row.top_k > std::min<std::int64_t>(row.experts, 64))
      csv.fail("topk", "a number of experts that a token can take");
    for (const bool back : {false, true}) results.push_back(check(csv, row, back));
  }
  return score_collectives(std::move(results));
}

}  // namespace nest::validate
