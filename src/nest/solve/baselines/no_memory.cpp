#include "nest/solve/baselines/no_memory.hpp"

#include <algorithm>
#include <utility>

#include "nest/base/stopwatch.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/common/first_fitting.hpp"

namespace nest::solve {
namespace {

constexpr Bytes kEndless{1'000'000'000'000'000};

}  // namespace

BaselineResult find_no_memory(const PlanQuestion& question, const BaselineOptions&) {
  const Stopwatch watch;
  BaselineResult result;
  PlanQuestion endless = question;
  ClusterParts parts = endless.inputs.cluster.parts();
  parts.accelerator.memory = std::max(parts.accelerator.memory, kEndless);
  endless.inputs.cluster = Cluster(std::move(parts));
  endless.options.top = kPlansTried;
  endless.options.runners_up = 0;
  const SearchResult found = ask(endless);
  result.evaluations = found.stats.work;
  judge_first_fitting(found, question, result);
  result.search_time = watch.elapsed();
  return result;
}

}  // namespace nest::solve
