#include "nest/solve/baselines/flat.hpp"

#include <set>
#include <utility>
#include <vector>

#include "nest/base/stopwatch.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/common/first_fitting.hpp"

namespace nest::solve {

Cluster flat_cluster(const Cluster& cluster, std::optional<BytesPerSecond> bandwidth) {
  const Level& innermost = cluster.levels().front();
  Level level;
  level.name = "flat";
  level.fan_out.size = cluster.devices();
  level.bandwidth = bandwidth.value_or(innermost.rate());
  level.latency = innermost.latency;
  ClusterParts parts = cluster.parts();
  parts.levels = {std::move(level)};
  return Cluster(std::move(parts));
}

BaselineResult find_on_flat(const PlanQuestion& question, SearchSpace space, const BaselineOptions& options) {
  const Stopwatch watch;
  BaselineResult result;
  // On one level, open tensor degrees would be the divisors of all devices.
  if (space.tensor.open() && question.inputs.profile() == nullptr) {
    std::set<std::int64_t> degrees;
    for (const Strategy& s : strategy_values(question.inputs, question.training, space))
      degrees.insert(s.tensor);
    std::vector<Choice::Range> ranges;
    ranges.reserve(degrees.size());
    for (const std::int64_t t : degrees) ranges.push_back({t, t});
    space.tensor = Choice(std::move(ranges));
  }
  PlanQuestion flat = question;
  flat.inputs.cluster = flat_cluster(question.inputs.cluster, options.flat_bandwidth);
  flat.space = std::move(space);
  flat.options.top = kPlansTried;
  flat.options.runners_up = 0;
  const SearchResult found = ask(flat);
  result.evaluations = found.stats.work;
  judge_first_fitting(found, question, result);
  result.search_time = watch.elapsed();
  return result;
}

BaselineResult find_flat(const PlanQuestion& question, const BaselineOptions& options) {
  return find_on_flat(question, question.space, options);
}

}  // namespace nest::solve
