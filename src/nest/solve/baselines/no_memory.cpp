#include "nest/solve/baselines/no_memory.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/common/first_fitting.hpp"

namespace nest::solve {
namespace {

constexpr Bytes kEndless{1'000'000'000'000'000};

}  // namespace

BaselineResult find_no_memory(const PlanQuestion& question, const BaselineOptions&) {
  const auto start = std::chrono::steady_clock::now();
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
  result.search_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace nest::solve
