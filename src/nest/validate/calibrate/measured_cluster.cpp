#include "nest/validate/calibrate/measured_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/calibration.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/validate/calibrate/fit_network.hpp"
#include "nest/validate/collectives/nccl_tests.hpp"
#include "nest/validate/collectives/perftest.hpp"

namespace nest::validate {
namespace {

std::size_t level_named(const Cluster& cluster, const std::string& name) {
  const std::vector<Level>& levels = cluster.levels();
  if (name.empty()) return levels.size() > 1 ? 1 : 0;
  const auto at = std::find_if(levels.begin(), levels.end(), [&](const Level& l) { return l.name == name; });
  if (at != levels.end()) return static_cast<std::size_t>(at - levels.begin());
  std::vector<std::string> known;
  known.reserve(levels.size());
  for (const Level& level : levels) known.push_back(level.name);
  throw InputError(cluster.name(), "", "there is no level '" + name + "'", did_you_mean(name, known));
}

// A device whose level gives it less than the link has its part of one link that several share.
double usual_links(const Level& level, BytesPerSecond link) {
  constexpr double kShared = 1.5;
  const double devices = link / level.bandwidth;
  return devices < kShared ? 1 : 1 / std::round(devices);
}

class Maker {
 public:
  Maker(const Cluster& cluster, const MeasuredOptions& options) : options_(options), out_{cluster, {}, {}} {}

  MeasuredCluster make(std::span<const MeasuredFile> files) {
    std::vector<NamedTest> tests;
    for (const MeasuredFile& file : files) {
      if (is_perftest(file.text)) {
        take_link(file);
        continue;
      }
      for (NcclTest& test : read_nccl_tests(file.name, file.text))
        tests.push_back({file.name, std::move(test)});
    }
    if (!tests.empty()) fit(tests);
    note(files);
    return std::move(out_);
  }

 private:
  void take_link(const MeasuredFile& file) {
    const LinkTest test = read_perftest(file.name, file.text);
    ClusterParts parts = out_.cluster.parts();
    Level& level = parts.levels[level_named(out_.cluster, options_.level)];
    if (test.bandwidth) {
      const double links = options_.links.value_or(usual_links(level, *test.bandwidth));
      const BytesPerSecond before = std::exchange(level.bandwidth, *test.bandwidth * links);
      out_.said.push_back(fmt::format("{}: {} became {} for a device: {:g} link{} of {} ({})", level.name,
                                      format(before), format(level.bandwidth), links, links == 1 ? "" : "s",
                                      format(*test.bandwidth), file.name));
    }
    if (test.latency) {
      const Seconds before = std::exchange(level.latency, *test.latency);
      out_.said.push_back(
          fmt::format("{}: {} became {} ({})", level.name, format(before), format(level.latency), file.name));
    }
    out_.cluster = Cluster(std::move(parts));
  }

  void fit(const std::vector<NamedTest>& tests) {
    Recipe recipe = named_recipe(kRecipe);
    NetworkFit fit = fit_network(out_.cluster, recipe, tests);
    Calibration calibration;
    calibration.levels = fit.levels;
    const Cluster before = out_.cluster;
    apply_calibration(calibration, recipe, out_.cluster);
    for (const LevelMultiples& moved : fit.levels) {
      const std::size_t at = level_named(before, moved.name);
      const Level& old = before.levels()[at];
      const Level& now = out_.cluster.levels()[at];
      if (moved.bandwidth.moved())
        out_.said.push_back(
            fmt::format("{}: {:.3f} times the bandwidth ({:.3f} to {:.3f} with 80 %), {} became {}",
                        moved.name, moved.bandwidth.value, moved.bandwidth.low, moved.bandwidth.high,
                        format(old.bandwidth), format(now.bandwidth)));
      if (moved.latency.moved())
        out_.said.push_back(
            fmt::format("{}: {:.3f} times the latency ({:.3f} to {:.3f} with 80 %), {} became {}", moved.name,
                        moved.latency.value, moved.latency.low, moved.latency.high, format(old.latency),
                        format(now.latency)));
    }
    if (fit.levels.empty()) out_.said.emplace_back("the measured times are as predicted: no level was moved");
    out_.rows = std::move(fit.rows);
  }

  void note(std::span<const MeasuredFile> files) {
    ClusterParts parts = out_.cluster.parts();
    std::string names;
    for (const MeasuredFile& file : files) names += (names.empty() ? "" : ", ") + file.name;
    parts.note += (parts.note.empty() ? "" : "; ") + std::string("measured: ") + names;
    out_.cluster = Cluster(std::move(parts));
  }

  static constexpr const char* kRecipe = "megatron";

  const MeasuredOptions& options_;
  MeasuredCluster out_;
};

}  // namespace

bool is_link_measurement(std::string_view text) {
  return is_perftest(text) || is_nccl_tests(text);
}

MeasuredCluster measured_cluster(const Cluster& cluster, std::span<const MeasuredFile> files,
                                 const MeasuredOptions& options) {
  return Maker(cluster, options).make(files);
}

}  // namespace nest::validate
