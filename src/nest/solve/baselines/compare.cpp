#include "nest/solve/baselines/compare.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "nest/base/stopwatch.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/baselines.hpp"

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

// Of what is left, an equal part for each of so many.
Deadline part_of(const Deadline& deadline, std::size_t parts) {
  const auto left = deadline.left();
  return left && parts > 1 ? deadline.within(*left / static_cast<double>(parts)) : deadline;
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
  // Half of the time is for the others.
  const std::size_t others = names.size() + options.degrees.size() + options.own.size();
  PlanQuestion own = question;
  own.options.deadline = part_of(question.options.deadline, others == 0 ? 1 : 2);
  all.found = ask(own);
  all.plans.push_back({"nest", result_of(all.found), std::nullopt, std::nullopt});
  all.plans.front().result.search_time = watch.elapsed();
  for (const std::string& name : names) {
    const Baseline* baseline = find_baseline(name);
    assert(baseline != nullptr);
    asking(name);
    own.options.deadline = part_of(question.options.deadline, others + 1 - all.plans.size());
    all.plans.push_back({name, ask_baseline(*baseline, own, options.baseline), std::nullopt, std::nullopt});
  }
  for (const auto& [name, degrees] : options.degrees) {
    BaselineOptions given = options.baseline;
    given.degrees = degrees;
    asking(name);
    own.options.deadline = part_of(question.options.deadline, others + 1 - all.plans.size());
    all.plans.push_back(
        {name, ask_baseline(*find_baseline("manual"), own, given), std::nullopt, std::nullopt});
  }
  for (const auto& [name, find] : options.own) {
    asking(name);
    own.options.deadline = part_of(question.options.deadline, others + 1 - all.plans.size());
    const Stopwatch took;
    BaselineResult result = find(own);
    result.search_time = took.elapsed();
    all.plans.push_back({name, std::move(result), std::nullopt, std::nullopt});
  }
  const BaselineResult best = all.plans.front().result;
  for (ComparedPlan& plan : all.plans) set_against(best, plan);
  return all;
}

}  // namespace nest::solve
