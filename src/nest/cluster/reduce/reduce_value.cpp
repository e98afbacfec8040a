// Reductions written out: JSON for programs, and a line for each pair.
#include <array>
#include <charconv>

#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/reduce/fit.hpp"
#include "nest/cluster/reduce/reduce.hpp"

namespace nest::cluster {
namespace {

Value figures_value(const PairFigures& figures) {
  Value out = Value::object();
  out.set("bandwidth_bytes_per_s", figures.bandwidth).set("latency_s", figures.latency);
  return out;
}

Value level_value(const LevelFit& fit) {
  Value out = Value::object();
  out.set("name", fit.level).set("pairs", fit.pairs);
  out.set("worst_bandwidth_error", fit.worst_bandwidth_error)
      .set("mean_bandwidth_error", fit.mean_bandwidth_error);
  out.set("worst_latency_error", fit.worst_latency_error).set("mean_latency_error", fit.mean_latency_error);
  if (!fit.worst) return out;
  Value pair = Value::array();
  pair.push(fit.worst->a).push(fit.worst->b);
  out.set("worst_pair", std::move(pair)).set("true", figures_value(fit.worst->truth));
  out.set("said", figures_value(fit.worst->said));
  return out;
}

std::string number(double v) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr};
}

}  // namespace

Value reduction_value(const Reduction& r) {
  Value out = Value::object();
  out.set("cluster", cluster_file_value(r.cluster)).set("method", r.method);
  out.set("worst_error", r.worst_error).set("mean_error", r.mean_error);
  Value levels = Value::array();
  for (const LevelFit& fit : r.levels) levels.push(level_value(fit));
  out.set("levels", std::move(levels));
  Value attempts = Value::array();
  for (const Attempt& attempt : r.attempts) {
    Value row = Value::object();
    row.set("method", attempt.method).set("levels", attempt.levels);
    row.set("worst_error", attempt.worst_error).set("mean_error", attempt.mean_error);
    attempts.push(std::move(row));
  }
  out.set("attempts", std::move(attempts));
  if (!r.grid_dims.empty()) {
    Value dims = Value::array();
    for (const std::int32_t n : r.grid_dims) dims.push(n);
    out.set("exact_grid_dims", std::move(dims));
  }
  Value devices = Value::array();
  for (const std::string& name : r.device_names) devices.push(name);
  out.set("reordered", r.reordered).set("devices", std::move(devices));
  Value warnings = Value::array();
  for (const std::string& warning : r.warnings) warnings.push(warning);
  out.set("warnings", std::move(warnings));
  return out;
}

std::string pair_errors_csv(const Reduction& r) {
  std::string out =
      "a,b,level,bandwidth_bytes_per_s,said_bandwidth_bytes_per_s,bandwidth_error,latency_s,said_latency_s,"
      "latency_error\n";
  const std::int32_t n = r.cluster.devices();
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i + 1; j < n; ++j) {
      const auto a = static_cast<std::size_t>(i);
      const auto b = static_cast<std::size_t>(j);
      const PairFigures& truth = r.truth.at(r.order[a], r.order[b]);
      const PairFigures said = said_of(r.cluster, i, j);
      const std::string& level = r.cluster.level(*r.cluster.tree().meet(DeviceId{i}, DeviceId{j})).name;
      out += r.device_names[a] + "," + r.device_names[b] + "," + level + "," + number(truth.bandwidth) + "," +
             number(said.bandwidth) + "," + number(relative_error(said.bandwidth, truth.bandwidth)) + "," +
             number(truth.latency) + "," + number(said.latency) + "," +
             number(relative_error(said.latency, truth.latency)) + "\n";
    }
  }
  return out;
}

}  // namespace nest::cluster
