// One configuration of an instance by itself, for tests of the fillers: its network from cells listed one by
// one, every stage in a place of its own, and all its stages by trying every one of them.
//
//   FillCase c(instance, plan);              // the plan says which configuration
//   c.for_each_cut([&](const std::vector<std::int32_t>& stage_of) { .. });
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "nest/network/cells/placement.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/tree/test_problem.hpp"
#include "nest/solve/twin/twin_recompute.hpp"

namespace nest::test {
using namespace solve;

// A valid plan of the space that `wanted` likes, by the dice; none where it likes none of the first ones.
template <class Wanted>
[[nodiscard]] std::optional<Plan> some_plan(Dice& dice, const Instance& instance, Wanted wanted) {
  std::optional<Plan> chosen;
  Pricer pricer(instance.inputs);
  int seen = 0;
  int liked = 0;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    if (wanted(plan) && pricer.price(plan).status != PriceStatus::invalid && dice.once_in(++liked))
      chosen = plan;
    return ++seen < 3000 && liked < 300;
  });
  return chosen;
}

class FillCase {
 public:
  TestProblem problem;
  Configuration configuration;

  // The instance outlives this. Strategies of the plan's stages may differ.
  FillCase(const Instance& instance, Plan plan)
      : problem(instance),
        configuration(problem.configuration(plan)),
        plan_(std::move(plan)),
        pricer_(instance.inputs, instance.options.price_options()) {
    const Parallelism& p = plan_.parallelism;
    const auto slots = place_cells(
        instance.inputs.cluster.sorted().tree(),
        {p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), p.block_devices, p.first_stage_first});
    for (std::size_t i = 0; i < stages(); ++i)
      cells_.push_back(own_cells(instance.inputs.cluster, *slots, i));
  }

  [[nodiscard]] std::size_t stages() const { return static_cast<std::size_t>(plan_.parallelism.pipeline); }
  [[nodiscard]] const LayerGraph& graph() const { return *problem.batch(configuration).graph; }

  [[nodiscard]] NetworkOptions network_options(const TieQuestion& ties) const {
    const Configuration& c = configuration;
    return {!c.zero.shards_anything() ? 0 : c.zero_shards, schedule_of(c.schedule).wraps(), ties.first,
            ties.last, c.zero.resharding().group()};
  }
  [[nodiscard]] PlanNetwork network(const TieQuestion& ties) const {
    const std::vector<Strategy> strategies(stages(), plan_.parallelism.strategy);
    return plan_network(problem.costs.inputs().cluster, problem.costs.constants(), strategies, cells_,
                        network_options(ties));
  }
  // The network outlives it.
  [[nodiscard]] StageSetting setting(const PlanNetwork& network) const {
    const Configuration& c = configuration;
    StageSetting made;
    made.sets = problem.batch(c).sets;
    made.micro_batch_scale = problem.batch(c).scale;
    made.coster = &problem.costs.coster();
    made.recompute = &problem.problem.recompute;
    made.ends = &network.tied;
    made.zero = c.zero;
    made.schedule = c.schedule;
    made.shape = {plan_.parallelism.pipeline, plan_.training.micro_batches, c.interleave};
    return made;
  }
  [[nodiscard]] StageOptions options(const PlanNetwork& network) {
    std::vector<Place> places;
    places.reserve(network.stages.size());
    for (const StageNetwork& stage : network.stages)
      places.push_back(problem.costs.place(problem.batch(configuration), plan_.parallelism.strategy, stage));
    return {setting(network), std::move(places)};
  }
  [[nodiscard]] FillQuestion question(const TieQuestion& ties) const {
    FillQuestion made;
    made.pipeline = {&pipeline_form(configuration.schedule, problem.problem.pipeline_model),
                     plan_.parallelism.pipeline, plan_.training.micro_batches};
    made.capacity = problem.costs.capacity();
    for (std::size_t i = 0; i < stages(); ++i) made.places.push_back({i});
    made.ties = ties.ties;
    made.tied_first = ties.first;
    made.tied_last = ties.last;
    return made;
  }

  // Every way to give each layer a stage so that no edge runs back and no stage is empty.
  template <class Visit>
  void for_each_cut(Visit visit) const {
    std::vector<std::int32_t> stage_of(graph().layers(), 0);
    while (true) {
      if (is_cut(stage_of)) visit(stage_of);
      std::size_t i = 0;
      while (i < stage_of.size() && ++stage_of[i] == static_cast<std::int32_t>(stages())) stage_of[i++] = 0;
      if (i == stage_of.size()) return;
    }
  }

  void cut(const std::vector<std::int32_t>& stage_of) {
    for (Stage& stage : plan_.stages) stage.layers.clear();
    for (std::size_t i = 0; i < stage_of.size(); ++i)
      plan_.stages[static_cast<std::size_t>(stage_of[i])].layers.emplace_back(static_cast<std::int32_t>(i));
  }

  // The least step of the plan's stages over all their recomputations, added to what is known.
  void try_recompute(std::optional<Seconds>& least, std::size_t stage = 0) {
    if (stage == plan_.stages.size()) {
      pricer_.price(plan_, priced_);
      if (priced_.status == PriceStatus::feasible && (!least || priced_.predicted.step < *least))
        least = priced_.predicted.step;
      return;
    }
    std::int64_t able = 0;
    for (const LayerId id : plan_.stages[stage].layers) able += graph().recomputes(id) ? 1 : 0;
    for (const Recompute& recompute : recomputations(able)) {
      plan_.stages[stage].recompute = recompute;
      try_recompute(least, stage + 1);
    }
  }

  [[nodiscard]] Plan& plan() { return plan_; }
  [[nodiscard]] PricedPlan price(const Plan& plan) { return pricer_.price(plan); }

 private:
  [[nodiscard]] bool is_cut(const std::vector<std::int32_t>& stage_of) const {
    for (const Edge& edge : graph().edges()) {
      if (stage_of[edge.from.index()] > stage_of[edge.to.index()]) return false;
    }
    std::vector<bool> used(stages(), false);
    for (const std::int32_t stage : stage_of) used[static_cast<std::size_t>(stage)] = true;
    return std::find(used.begin(), used.end(), false) == used.end();
  }

  [[nodiscard]] std::vector<Recompute> recomputations(std::int64_t able) const {
    return TwinRecompute(problem.costs.inputs(), problem.costs.batches().front().training,
                         *problem.problem.space)
        .of_stage(able);
  }

  Plan plan_;
  Pricer pricer_;
  PricedPlan priced_;
  std::vector<std::vector<Cell>> cells_;
};

}  // namespace nest::test
