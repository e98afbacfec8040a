#include "nest/solve/baselines/compare.hpp"

#include <algorithm>
#include <cassert>

#include "nest/base/stopwatch.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "nest/solve/baselines/manual/manual.hpp"

namespace nest::solve {
namespace {

BaselineResult result_of(const SearchResult& found) {
  BaselineResult result;
  result.status = found.status;
  result.reason = found.reason;
  result.evaluations = found.stats.work;
  if (!found.plans.empty()) {
    result.plan = found.plans.front();
    result.plan->status = found.status;
    result.plan->lower_bound = found.lower_bound;
    result.believed = result.plan->predicted->step;
  }
  return result;
}

bool fits(const BaselineResult& result) {
  return result.plan && (result.status == PlanStatus::feasible || result.status == PlanStatus::optimal);
}

// The batches may differ where degrees were given that do not divide the one asked for.
void set_against(const BaselineResult& best, ComparedPlan& other) {
  if (!fits(best) || !fits(other.result)) return;
  const Prediction& ours = *best.plan->predicted;
  const Prediction& theirs = *other.result.plan->predicted;
  if (ours.samples_per_s > 0) other.relative = theirs.samples_per_s / ours.samples_per_s;
  other.loses = largest_loss(*best.plan, *other.result.plan);
}

}  // namespace

const ComparedPlan* Comparison::find(std::string_view name) const {
  const auto at =
      std::find_if(plans.begin(), plans.end(), [&](const ComparedPlan& p) { return p.name == name; });
  return at == plans.end() ? nullptr : &*at;
}

Comparison compare(const PlanQuestion& question, const std::vector<std::string>& names,
                   const CompareOptions& options) {
  const auto asking = [&](std::string_view name) {
    if (options.asking) options.asking(name);
  };
  Comparison all;
  asking("nest");
  const Stopwatch watch;
  all.found = ask(question);
  all.plans.push_back({"nest", result_of(all.found), std::nullopt, std::nullopt});
  all.plans.front().result.search_time = watch.elapsed();
  for (const std::string& name : names) {
    const Baseline* baseline = find_baseline(name);
    assert(baseline != nullptr);
    asking(name);
    all.plans.push_back({name, baseline->find(question, options.baseline), std::nullopt, std::nullopt});
  }
  for (const auto& [name, degrees] : options.degrees) {
    BaselineOptions given = options.baseline;
    given.degrees = degrees;
    asking(name);
    all.plans.push_back({name, find_manual(question, given), std::nullopt, std::nullopt});
  }
  const BaselineResult best = all.plans.front().result;
  for (ComparedPlan& plan : all.plans) set_against(best, plan);
  return all;
}

}  // namespace nest::solve
