#include "nest/solve/baselines/common/first_fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/network/cells/placement.hpp"
#include "nest/solve/baselines/common/judge.hpp"

namespace nest::solve {
namespace {

bool contains(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

Plan choices_on_cluster(Plan plan, const PlanQuestion& question) {
  const DeviceTree& tree = question.inputs.cluster.sorted().tree();
  Parallelism& p = plan.parallelism;
  for (Stage& stage : plan.stages) {
    stage.devices.clear();
    stage.time.reset();
    stage.memory.reset();
  }
  plan.predicted.reset();
  PlacementShape shape{p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), 0, p.first_stage_first};
  if (question.space.block_devices.open()) {
    std::vector<std::int64_t> sizes = block_sizes(tree, shape);
    if (shape.outer == 1 && sizes.size() > 1) sizes.resize(1);
    if (!contains(sizes, p.block_devices)) p.block_devices = sizes.empty() ? 0 : sizes.front();
  }
  if (p.zero.shards_anything() && question.space.zero_shards.open()) {
    shape.block_devices = p.block_devices;
    const std::int64_t group = p.copies() * p.strategy.cell() / p.strategy.tensor;
    const auto slots = place_cells(tree, shape);
    if (!slots || !contains(zero_shard_sizes(tree, *slots, p.strategy), p.zero_shards)) p.zero_shards = group;
  }
  return plan;
}

Bytes excess_memory(const Plan& plan) {
  Bytes most;
  for (const Stage& stage : plan.stages) {
    if (stage.memory) most = std::max(most, stage.memory->over());
  }
  return most;
}

void judge_first_fitting(const SearchResult& found, const PlanQuestion& question, BaselineResult& result) {
  if (found.plans.empty()) {
    result.status = found.status;
    result.reason = found.reason;
    return;
  }
  const SearchOptions& options = question.options;
  if (found.status != PlanStatus::optimal &&
      (options.deadline.limited() || options.deadline.cancelled() || options.work_limit))
    result.notes.emplace_back("a limit stopped its search before it had proved its plan");
  Pricer pricer = pricer_of(question);
  BaselineResult first;
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    BaselineResult judged;
    judge(choices_on_cluster(found.plans[i], question), pricer, judged);
    judged.believed = found.plans[i].predicted->step;
    const bool fits = judged.status == PlanStatus::feasible;
    if (i == 0) first = judged;
    if (!fits && i + 1 < found.plans.size()) continue;
    if (!fits) judged = first;
    result.status = judged.status;
    result.plan = std::move(judged.plan);
    result.reason = std::move(judged.reason);
    result.believed = judged.believed;
    if (first.plan && excess_memory(*first.plan).value > 0) {
      result.notes.push_back(fmt::format("its first choice needs {} more than a device has",
                                         format(excess_memory(*first.plan))));
    }
    if (i > 0) {
      result.notes.push_back(fits ? fmt::format("of its plans, number {} is the first that fits", i + 1)
                                  : fmt::format("none of its first {} plans fits", found.plans.size()));
    }
    return;
  }
}

}  // namespace nest::solve
