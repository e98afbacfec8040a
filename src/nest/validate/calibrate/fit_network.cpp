#include "nest/validate/calibrate/fit_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nest/base/error.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/validate/calibrate/evidence_fit.hpp"

namespace nest::validate {
namespace {

// Sizes of one test share their errors: each counts for less than it would alone.
constexpr double kRowNoise = 0.15;
constexpr double kBandwidthPrior = 0.5;
constexpr double kLatencyPrior = 0.7;

// The devices that the ranks run on: as many of each host.
std::vector<DeviceId> devices_of(const Cluster& cluster, const NamedTest& named) {
  const NcclTest& test = named.test;
  const DeviceTree& tree = cluster.tree();
  const auto refuse = [&](const std::string& what) {
    throw InputError(named.name, "", what, "give the cluster that was measured with --cluster");
  };
  if (test.ranks > tree.devices())
    refuse(
        fmt::format("the test has {} ranks, {} has {} devices", test.ranks, cluster.name(), tree.devices()));
  if (test.ranks % test.hosts != 0)
    refuse(fmt::format("{} ranks on {} hosts: hosts have unequal numbers", test.ranks, test.hosts));
  // Hosts of a rack-wide domain of links lie side by side in it; others are domains of their own.
  const std::int32_t own = test.ranks / test.hosts;
  const bool one_domain = test.hosts == 1 || cluster.accelerator().scale_up.domain > 0;
  if (!one_domain && test.hosts > tree.domains(LevelId{0}))
    refuse(fmt::format("the test has {} hosts, {} has {} nodes", test.hosts, cluster.name(),
                       tree.domains(LevelId{0})));
  if (!one_domain && own > tree.devices_in(LevelId{0}, 0))
    refuse(fmt::format("{} ranks ran on a host, a node of {} has {} devices", own, cluster.name(),
                       tree.devices_in(LevelId{0}, 0)));
  std::vector<DeviceId> ids;
  ids.reserve(static_cast<std::size_t>(test.ranks));
  for (std::int32_t i = 0; i < test.ranks; ++i)
    ids.emplace_back(one_domain ? i : tree.first_device(LevelId{0}, i / own).value + i % own);
  return ids;
}

struct Case {
  const NamedTest* named;
  const NcclRow* row;
  GroupShape shape;
};

}  // namespace

NetworkFit fit_network(const Cluster& cluster, const Recipe& recipe, std::span<const NamedTest> tests) {
  NetworkFit out;
  std::vector<Case> cases;
  FitProblem problem;
  for (const NamedTest& named : tests) {
    const GroupShape shape = group_shape(cluster, devices_of(cluster, named));
    const std::string& level = cluster.level(shape.outermost().level).name;
    const auto known = std::find_if(out.levels.begin(), out.levels.end(),
                                    [&](const LevelMultiples& l) { return l.name == level; });
    if (known == out.levels.end()) out.levels.push_back({level, {}, {}});
    for (const NcclRow& row : named.test.rows) {
      cases.push_back({&named, &row, shape});
      problem.measured.push_back(std::log(row.time.value));
      problem.noise.push_back(kRowNoise);
    }
  }
  for (std::size_t i = 0; i < out.levels.size(); ++i) {
    problem.prior.push_back(kBandwidthPrior);
    problem.prior.push_back(kLatencyPrior);
  }
  const std::vector<LevelMultiples> levels = out.levels;
  problem.predict = [&](std::span<const double> at) {
    Calibration c;
    c.levels = levels;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      c.levels[i].bandwidth.value = std::exp(at[2 * i]);
      c.levels[i].latency.value = std::exp(at[2 * i + 1]);
    }
    Recipe unchanged = recipe;
    Cluster moved = cluster;
    apply_calibration(c, unchanged, moved);
    const CollectiveModel model(moved, fabric_constants(moved, unchanged));
    std::vector<double> logs;
    logs.reserve(cases.size());
    for (const Case& one : cases)
      logs.push_back(std::log(
          std::max(1e-9, collective_time(one.named->test.kind, one.row->size, one.shape, model).value)));
    return logs;
  };
  const Fit fit = fit_constants(problem);
  for (std::size_t i = 0; i < out.levels.size(); ++i) {
    out.levels[i].bandwidth = multiple_of(fit, 2 * i);
    out.levels[i].latency = multiple_of(fit, 2 * i + 1);
  }
  const std::vector<double> shipped = problem.predict(std::vector<double>(problem.prior.size(), 0));
  const std::vector<double> after = problem.predict(fit.values);
  for (std::size_t i = 0; i < cases.size(); ++i)
    out.rows.push_back({cases[i].named->name, format(cases[i].row->size), std::exp(problem.measured[i]),
                        std::exp(shipped[i]), std::exp(after[i])});
  std::erase_if(out.levels,
                [](const LevelMultiples& l) { return !l.bandwidth.moved() && !l.latency.moved(); });
  return out;
}

}  // namespace nest::validate
