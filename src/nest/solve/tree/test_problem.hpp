// The problem of a search without the search, for tests that ask for single bounds and fills: what search()
// makes of an instance, and where plans of the exhaustive twin belong in it.
//
//   TestProblem problem(instance);
//   const Configuration c = problem.configuration(plan);
//   Evaluator(problem.problem).quick_bound(problem.degrees(c), c.schedule, c.interleave)
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nest/price/price.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/tree/evaluator.hpp"
#include "nest/solve/twin/test_instances.hpp"

namespace nest::test {
using namespace solve;

struct TestProblem {
  // The instance outlives this.
  explicit TestProblem(const Instance& instance, const Prunings& prunings = {})
      : costs(instance.inputs, instance.training, instance.space,
              micro_batch_values(instance.inputs, instance.training, instance.space), instance.options) {
    problem.costs = &costs;
    problem.space = &instance.space;
    problem.pipeline_model = instance.options.pipeline_model;
    problem.prunings = prunings;
    problem.strategies = strategy_values(instance.inputs, instance.training, instance.space);
    problem.recompute = RecomputeChoices(instance.space.recompute,
                                         points_of(instance.inputs, instance.training, instance.space));
    if (!costs.selective()) problem.recompute.drop_selective();
    const FrameworkRules* rules = instance.space.rules;
    if (rules != nullptr && rules->whole_recompute) problem.recompute.drop_parts();
    same_recompute = instance.space.same_recompute || (rules != nullptr && rules->same_recompute);
    // Every placement is there, also where another looks alike.
    placements.emplace(instance.inputs.cluster, costs.constants(), problem.strategies, instance.space, false);
    problem.placements = &*placements;
  }

  // Where the plan belongs; its degrees are added where it is new.
  [[nodiscard]] Configuration configuration(const Plan& plan) {
    const Parallelism& p = plan.parallelism;
    Degrees degrees;
    degrees.batch = index_of(
        costs.batches(), [&](const Batch& b) { return b.training.micro_batch == plan.training.micro_batch; });
    degrees.strategy = index_of(problem.strategies, [&](const Strategy& s) { return s == p.strategy; });
    degrees.pipeline = p.pipeline;
    degrees.copies = p.copies();
    degrees.micro_batches = plan.training.micro_batches;
    degrees.devices = p.devices();
    Configuration c;
    const auto known = std::find_if(problem.degrees.begin(), problem.degrees.end(), [&](const Degrees& g) {
      return g.batch == degrees.batch && g.strategy == degrees.strategy && g.pipeline == degrees.pipeline &&
             g.copies == degrees.copies;
    });
    c.degrees = static_cast<std::size_t>(known - problem.degrees.begin());
    if (known == problem.degrees.end()) problem.degrees.push_back(degrees);
    c.schedule = p.schedule;
    c.interleave = p.interleave;
    c.zero = p.zero;
    c.zero_shards = p.zero_shards;
    c.inner = p.data_inner;
    c.block_devices = p.block_devices;
    c.first_stage_first = p.first_stage_first;
    return c;
  }

  // The degrees of all plans of the instance whose strategy the model allows.
  void add_degrees(const Instance& instance) {
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      if (costs.refusal(costs.batches().front(), plan.parallelism.strategy).empty())
        static_cast<void>(configuration(plan));
      return true;
    });
  }

  [[nodiscard]] const Degrees& degrees(const Configuration& c) const { return problem.degrees[c.degrees]; }
  [[nodiscard]] const Batch& batch(const Configuration& c) const { return costs.batches()[degrees(c).batch]; }

  [[nodiscard]] ShardKind shards(const Configuration& c) const {
    const Strategy& strategy = problem.strategies[degrees(c).strategy];
    const std::int64_t ranks = degrees(c).copies * strategy.cell() / strategy.tensor;
    return !c.zero.shards_anything() || c.zero_shards == ranks ? ShardKind::whole : ShardKind::part;
  }

  // The plan's own among all placements.
  [[nodiscard]] Placement placement(const Configuration& c, const TieQuestion& ties) {
    const Degrees& g = degrees(c);
    const auto all = placements->of(
        {g.strategy, g.pipeline, g.copies, !c.zero.shards_anything() ? ShardKind::any : shards(c),
         schedule_of(c.schedule).wraps(), ties.first, ties.last, c.zero.resharding().group()});
    return (*all)[index_of(*all, [&](const Placement& p) {
      return p.inner == c.inner && p.block_devices == c.block_devices &&
             p.first_stage_first == c.first_stage_first &&
             p.zero_shards == (!c.zero.shards_anything() ? 0 : c.zero_shards);
    })];
  }

  [[nodiscard]] std::vector<TieQuestion> ties(const Configuration& c) const {
    return tie_questions(*batch(c).graph, degrees(c).pipeline, c.schedule);
  }
  // What all stages must have in common: each value in turn, or nothing.
  [[nodiscard]] std::vector<std::optional<Recompute>> policies(const Configuration& c) const {
    if (!same_recompute) return {std::nullopt};
    std::vector<std::optional<Recompute>> all;
    const FrameworkRules* rules = problem.space->rules;
    for (const Recompute& r : problem.recompute.uniform(static_cast<std::int64_t>(batch(c).sets->layers()))) {
      if (rules == nullptr || rules->allows(problem.plan_degrees(c).parallelism, r)) all.emplace_back(r);
    }
    return all;
  }

  template <class List, class Wanted>
  [[nodiscard]] static std::size_t index_of(const List& list, Wanted wanted) {
    const auto at = std::find_if(list.begin(), list.end(), wanted);
    if (at == list.end()) throw std::logic_error("the twin has what the search has not");
    return static_cast<std::size_t>(at - list.begin());
  }

  SearchCosts costs;
  SearchProblem problem;
  std::optional<Placements> placements;
  bool same_recompute = false;
};

// The step of the fastest feasible plan of each kind; `key` says of which kind a plan is.
struct Fastest {
  Seconds step;
  Plan plan;
};

template <class Key>
[[nodiscard]] std::map<std::vector<std::int64_t>, Fastest> fastest_by(const Instance& instance, Key key) {
  std::map<std::vector<std::int64_t>, Fastest> all;
  Pricer pricer(instance.inputs, instance.options.price_options());
  PricedPlan priced;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    if (priced.status != PriceStatus::feasible) return true;
    const Seconds step = priced.predicted.step;
    const auto [at, made] = all.try_emplace(key(plan));
    if (made || step < at->second.step) at->second = {step, plan};
    return true;
  });
  return all;
}

}  // namespace nest::test
