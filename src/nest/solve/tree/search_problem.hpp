// The constant part of a search: what all its threads read, and which choices its space leaves to a node of
// the tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/question/prunings.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/placements/placements.hpp"
#include "nest/solve/table/costs.hpp"
#include "nest/solve/tree/configuration.hpp"

namespace nest::solve {

struct SearchProblem {
  SearchCosts* costs = nullptr;
  Placements* placements = nullptr;
  const SearchSpace* space = nullptr;
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  Prunings prunings;
  std::vector<Strategy> strategies;
  std::vector<Degrees> degrees;
  RecomputeChoices recompute;
  bool bills = false;  // Objective::cost: what is rented counts

  // What a second of a step of so many devices counts at least.
  [[nodiscard]] double weight(std::int64_t of_devices) const {
    return bills ? static_cast<double>(least_rented(costs->inputs().cluster, of_devices)) : 1;
  }
  // The same where it is placed.
  [[nodiscard]] double weight(std::int64_t of_devices, const Placement& placement) const {
    return placement.rented > 0 ? static_cast<double>(placement.rented) : weight(of_devices);
  }
  // Whether stages may differ.
  [[nodiscard]] bool mixed(Schedule schedule) const;
  // Whether exchanges with experts run as the schedule and the space have it.
  [[nodiscard]] bool goes_with(const Strategy& strategy, Schedule schedule) const;
  // Whether the weights and states of these degrees are too much for all devices together.
  [[nodiscard]] bool too_large(const Degrees& own) const {
    return prunings.memory_bound && own.memory > costs->capacity();
  }
  // What a configuration says of its plans: all but their stages and devices.
  [[nodiscard]] PlanDegrees plan_degrees(const Configuration& configuration) const;
  // The framework's rule that forbids a configuration; none where it may be.
  [[nodiscard]] const FrameworkRule* broken_rule(const Configuration& configuration) const;

  // Schedules with their chunks that degrees may have.
  struct ScheduleChoice {
    Schedule schedule = Schedule::one_f_one_b;
    std::int64_t interleave = 1;
  };
  [[nodiscard]] std::vector<ScheduleChoice> schedules(const Degrees& own) const;
  // What ZeRO a configuration may have and, where all stages recompute alike, which recomputation.
  struct ZeroChoice {
    Zero zero;
    ShardKind shards = ShardKind::whole;
    std::optional<Recompute> recompute;
  };
  [[nodiscard]] std::vector<ZeroChoice> zeros(const Configuration& configuration) const;
  // What its stages may recompute.
  [[nodiscard]] RecomputeChoices recompute_of(const Configuration& configuration) const {
    return configuration.recompute ? RecomputeChoices(*configuration.recompute, recompute) : recompute;
  }
  // The placements of a configuration whose ZeRO is chosen, and the choices that one of them fixes.
  [[nodiscard]] PlacementQuestion placement_question(const Configuration& configuration, ShardKind shards,
                                                     std::size_t tied_first, std::size_t tied_last) const;
  [[nodiscard]] static Configuration placed(Configuration configuration, const Placement& placement);
};

}  // namespace nest::solve
