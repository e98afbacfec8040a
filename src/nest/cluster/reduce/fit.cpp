#include "nest/cluster/reduce/fit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace nest::cluster {
namespace {

// Sums along different paths differ in their last bits; that is no error, and such figures are rounded.
constexpr double kRounding = 1e-9;

double twelve_digits(double v) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, std::chars_format::scientific, 11).ptr;
  double rounded = v;
  std::from_chars(buffer.data(), end, rounded);
  return rounded;
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  void take(double v) {
    least = std::min(least, v);
    most = std::max(most, v);
  }
  [[nodiscard]] double middle() const {
    if (most - least <= kRounding * most) return twelve_digits(most);
    return 2 * least * most / (least + most);
  }
};

Cluster unit_cluster(const Candidate& candidate, const std::string& name, const Accelerator& accelerator) {
  return Cluster(
      {name, accelerator, candidate.levels, "reduced from a network by " + candidate.method, "", ""});
}

struct LevelSums {
  double bandwidth = 0;
  double latency = 0;
  double worst = 0;
};

}  // namespace

double relative_error(double said, double truth) {
  if (truth == 0) return said == 0 ? 0 : 1;
  const double error = std::abs(said - truth) / truth;
  return error < kRounding ? 0 : error;
}

PairFigures said_of(const Cluster& cluster, std::int32_t a, std::int32_t b) {
  const PairRoute route = *pair_route(cluster, DeviceId{a}, DeviceId{b});
  const Level& level = cluster.level(route.level);
  return {level.bandwidth.value / route.links, level.latency.value * route.hops};
}

Fitted fit_levels(const Candidate& candidate, const PairTable& table, const std::vector<std::string>& names,
                  const std::string& cluster_name, const Accelerator& accelerator) {
  const Cluster unit = unit_cluster(candidate, cluster_name, accelerator);
  const std::int32_t n = table.devices();
  const std::size_t levels = unit.levels().size();
  const auto device = [&](std::int32_t leaf) { return candidate.order[static_cast<std::size_t>(leaf)]; };

  // What a level's figure must be for this pair to be right: its bandwidth over all links, its latency for
  // one hop.
  std::vector<Range> rates(levels);
  std::vector<Range> times(levels);
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < i; ++j) {
      const PairRoute route = *pair_route(unit, DeviceId{i}, DeviceId{j});
      const PairFigures& truth = table.at(device(i), device(j));
      rates[route.level.index()].take(truth.bandwidth * route.links);
      times[route.level.index()].take(truth.latency / route.hops);
    }
  }
  ClusterParts parts = unit.parts();
  for (std::size_t l = 0; l < levels; ++l) {
    parts.levels[l].bandwidth = BytesPerSecond{rates[l].middle()};
    parts.levels[l].latency = Seconds{times[l].middle()};
  }
  Fitted out{Cluster(std::move(parts)), std::vector<LevelFit>(levels), 0, 0};

  std::vector<LevelSums> sums(levels);
  double sum = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < i; ++j) {
      const PairRoute route = *pair_route(out.cluster, DeviceId{i}, DeviceId{j});
      const Level& level = out.cluster.level(route.level);
      const PairFigures said{level.bandwidth.value / route.links, level.latency.value * route.hops};
      const PairFigures& truth = table.at(device(i), device(j));
      const double rate_error = relative_error(said.bandwidth, truth.bandwidth);
      const double time_error = relative_error(said.latency, truth.latency);
      const double error = std::max(rate_error, time_error);
      LevelFit& fit = out.levels[route.level.index()];
      LevelSums& at = sums[route.level.index()];
      ++fit.pairs;
      at.bandwidth += rate_error;
      at.latency += time_error;
      sum += error;
      fit.worst_bandwidth_error = std::max(fit.worst_bandwidth_error, rate_error);
      fit.worst_latency_error = std::max(fit.worst_latency_error, time_error);
      if (error <= at.worst) continue;
      at.worst = error;
      fit.worst = WorstPair{names[static_cast<std::size_t>(device(j))],
                            names[static_cast<std::size_t>(device(i))], truth, said};
    }
  }
  for (std::size_t l = 0; l < levels; ++l) {
    LevelFit& fit = out.levels[l];
    fit.level = out.cluster.levels()[l].name;
    fit.mean_bandwidth_error = sums[l].bandwidth / static_cast<double>(std::max<std::int64_t>(1, fit.pairs));
    fit.mean_latency_error = sums[l].latency / static_cast<double>(std::max<std::int64_t>(1, fit.pairs));
    out.worst_error = std::max(out.worst_error, sums[l].worst);
  }
  out.mean_error = sum / static_cast<double>(table.pairs());
  return out;
}

}  // namespace nest::cluster
