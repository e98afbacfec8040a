#include "nest/solve/tree/search_problem.hpp"

#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/question/choice_values.hpp"

namespace nest::solve {

bool SearchProblem::mixed(Schedule schedule) const {
  return space->mixed && !schedule_of(schedule).chunked() &&
         (space->rules == nullptr || !space->rules->same_strategy);
}

bool SearchProblem::goes_with(const Strategy& strategy, Schedule schedule) const {
  return go_together(strategy, schedule, costs->inputs(), *space);
}

PlanDegrees SearchProblem::plan_degrees(const Configuration& c) const {
  const Degrees& own = degrees[c.degrees];
  PlanDegrees all;
  all.training = costs->batches()[own.batch].training;
  all.training.micro_batches = own.micro_batches;
  Parallelism& p = all.parallelism;
  p.strategy = strategies[own.strategy];
  p.pipeline = own.pipeline;
  p.data = own.copies * p.strategy.side();
  p.data_inner = c.inner;
  p.block_devices = c.block_devices;
  p.zero = c.zero;
  p.zero_shards = c.zero_shards;
  p.interleave = c.interleave;
  p.schedule = c.schedule;
  p.first_stage_first = c.first_stage_first;
  return all;
}

const FrameworkRule* SearchProblem::broken_rule(const Configuration& c) const {
  return space->rules == nullptr ? nullptr : space->rules->broken(plan_degrees(c));
}

std::vector<SearchProblem::ScheduleChoice> SearchProblem::schedules(const Degrees& own) const {
  std::vector<ScheduleChoice> all;
  const auto layers = static_cast<std::int64_t>(costs->batches()[own.batch].sets->layers());
  for (const Schedule schedule : schedule_values(*space)) {
    if (!goes_with(strategies[own.strategy], schedule)) continue;
    for (const std::int64_t v : interleave_values(*space)) {
      if (v <= layers / own.pipeline && runs_with(schedule, {own.pipeline, own.micro_batches, v}))
        all.push_back({schedule, v});
    }
  }
  return all;
}

std::vector<SearchProblem::ZeroChoice> SearchProblem::zeros(const Configuration& c) const {
  const Degrees& own = degrees[c.degrees];
  const Strategy& strategy = strategies[own.strategy];
  const std::int64_t ranks = own.copies * strategy.cell() / strategy.tensor;
  std::vector<std::optional<Recompute>> policies{std::nullopt};
  if (space->same_recompute || (space->rules != nullptr && space->rules->same_recompute)) {
    policies.clear();
    const auto layers = static_cast<std::int64_t>(costs->batches()[own.batch].sets->layers());
    const Parallelism degrees_of = plan_degrees(c).parallelism;
    for (const Recompute& r : recompute.uniform(layers))
      if (space->rules == nullptr || space->rules->allows(degrees_of, r)) policies.emplace_back(r);
  }
  std::vector<ZeroChoice> all;
  for (const Zero zero : zero_values(*space, strategy, ranks, own.pipeline)) {
    for (const ShardKind kind : {ShardKind::whole, ShardKind::part}) {
      if (kind == ShardKind::part && (!zero.shards_anything() || ranks == 1)) continue;
      if (kind == ShardKind::whole && zero.shards_anything() && !space->zero_shards.has(ranks)) continue;
      for (const std::optional<Recompute>& policy : policies) all.push_back({zero, kind, policy});
    }
  }
  return all;
}

PlacementQuestion SearchProblem::placement_question(const Configuration& c, ShardKind shards,
                                                    std::size_t tied_first, std::size_t tied_last) const {
  const Degrees& own = degrees[c.degrees];
  return {own.strategy,
          own.pipeline,
          own.copies,
          c.zero.shards_anything() ? shards : ShardKind::any,
          schedule_of(c.schedule).wraps(),
          tied_first,
          tied_last,
          c.zero.resharding().group()};
}

Configuration SearchProblem::placed(Configuration c, const Placement& placement) {
  c.inner = placement.inner;
  c.block_devices = placement.block_devices;
  c.first_stage_first = placement.first_stage_first;
  c.zero_shards = c.zero.shards_anything() ? placement.zero_shards : 1;
  return c;
}

}  // namespace nest::solve
