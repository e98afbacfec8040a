// Whether the search and its exhaustive twin agree about an instance, as a sentence where they do not.
//
//   const Instance instance = random_instance(seed, 2'000);
//   difference(instance, 2'000)   -> "the search finds 1.25 s, the twin 1.2 s: ..."
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "nest/base/document/reader.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/twin/brute_force.hpp"
#include "nest/solve/twin/test_instances.hpp"

namespace nest::test {
using namespace solve;

[[nodiscard]] inline bool same_time(Seconds a, Seconds b) {
  return std::abs(a.value - b.value) <= 1e-9 * std::max(std::abs(a.value), std::abs(b.value));
}

[[nodiscard]] inline std::string in_words(const Plan& plan) {
  Value v = to_value(plan.parallelism, plan.stages);
  Value stages = Value::array();
  for (const Stage& stage : plan.stages) {
    std::string text = nest::strategies::spell(stage.strategy) + ", recomputation " +
                       nest::strategies::spell(stage.recompute) + ":";
    for (const LayerId id : stage.layers) text += " " + std::to_string(id.value);
    stages.push(Value(text));
  }
  v.set("stages", std::move(stages)).set("micro_batch", plan.training.micro_batch);
  return to_json_line(v);
}

// The plan as a file, read back.
[[nodiscard]] inline Plan read_back(const Plan& plan, const PlanInputs& inputs) {
  const Document document = parse_json("plan", to_json(plan_value(plan, inputs)));
  Reader reader(document);
  Warnings warnings;
  return read_plan(reader, inputs.recipe, warnings);
}

// A limit to the devices of plans, now and then, for whoever knows it: baselines do not.
inline void draw_most_devices(unsigned seed, Instance& made) {
  Dice dice(seed + 2'000'039);
  if (!dice.once_in(6)) return;
  made.options.most_devices = dice.pick(1, made.inputs.cluster.devices());
  made.text += "at most " + std::to_string(*made.options.most_devices) + " devices\n";
}

// What is wrong with a plan that the search calls optimal; empty where nothing is.
[[nodiscard]] inline std::string problem_of(const Plan& plan, const Instance& instance) {
  if (!plan.predicted || !plan.placed()) return "the plan has no results or no devices";
  const auto check = [&](const std::string& what, const Plan& other) -> std::string {
    Pricer pricer(instance.inputs, instance.options.price_options());
    const PricedPlan priced = pricer.price(other);
    if (priced.status != PriceStatus::feasible)
      return what + " is " + std::string(name_of(priced.status)) + ": " + priced.reason;
    if (same_time(priced.predicted.step, plan.predicted->step)) return {};
    return what + " takes " + std::to_string(priced.predicted.step.value) + " s, the plan says " +
           std::to_string(plan.predicted->step.value) + " s";
  };
  Plan unplaced = plan;
  for (Stage& stage : unplaced.stages) stage.devices.clear();
  for (const auto& [what, other] : {std::pair<std::string, Plan>{"the plan", plan},
                                    {"the plan without devices", std::move(unplaced)},
                                    {"the plan read from its file", read_back(plan, instance.inputs)}}) {
    if (std::string problem = check(what, other); !problem.empty()) return problem;
  }
  return {};
}

[[nodiscard]] inline std::string difference(const Instance& instance, const BruteForceResult& all,
                                            const SearchResult& found) {
  const auto& best = all.best;
  if (found.status == PlanStatus::disagreement) return "search and price disagree: " + found.reason;
  if (found.status != (best ? PlanStatus::optimal : PlanStatus::infeasible)) {
    return "the search says " + std::string(name_of(found.status)) + " (" + found.reason + "), the twin " +
           (best ? "has " + in_words(*best) : "has no plan");
  }
  if (!best) return found.plans.empty() ? "" : "infeasible, and yet there is a plan";
  if (found.plans.empty()) return "optimal, and yet there is no plan";
  const Plan& plan = found.plans.front();
  if (std::string problem = problem_of(plan, instance); !problem.empty())
    return problem + "\n  " + in_words(plan);
  const Seconds step = plan.predicted->step;
  const bool fewest = instance.options.objective != Objective::devices ||
                      plan.parallelism.devices() == best->parallelism.devices();
  const bool cheapest =
      instance.options.objective != Objective::cost ||
      same_time(step * static_cast<double>(rented_devices(plan, instance.inputs.cluster)),
                *all.step * static_cast<double>(rented_devices(*best, instance.inputs.cluster)));
  const bool same = instance.options.objective == Objective::cost || same_time(step, *all.step);
  if (!same || !fewest || !cheapest) {
    return "the search finds " + std::to_string(step.value) + " s, the twin " +
           std::to_string(all.step->value) + " s\n  search " + in_words(plan) + "\n  twin   " +
           in_words(*best);
  }
  if (found.lower_bound > step && !same_time(found.lower_bound, step))
    return "the lower bound is above the price";
  return {};
}

[[nodiscard]] inline std::string difference(const Instance& instance, std::int64_t most_plans) {
  const BruteForceResult all =
      brute_force(instance.inputs, instance.training, instance.space, instance.options, most_plans);
  if (!all.complete) return "the space has more plans than asked for";
  return difference(instance, all,
                    ask({instance.inputs, instance.training, instance.space, instance.options}));
}

}  // namespace nest::test
