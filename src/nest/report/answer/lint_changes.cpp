#include "nest/report/answer/lint_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/frameworks/megatron/megatron_args.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

struct Free {
  std::string_view flag;
  double Overlap::* part;
};
constexpr std::array kFree{
    Free{"--overlap-grad-reduce", &Overlap::gradient_reduce},
    Free{"--overlap-param-gather", &Overlap::parameter_gather},
    Free{"no --no-overlap-p2p-communication", &Overlap::interleaved_sends},
};

using Changed = std::pair<std::string, Plan>;

void change_recompute(const Plan& plan, std::vector<Changed>& out) {
  for (const RecomputePolicy policy :
       {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::full}) {
    const bool so_already = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
      return stage.recompute == Recompute{policy, 0};
    });
    if (so_already) continue;
    Plan other = plan;
    for (Stage& stage : other.stages) stage.recompute = {policy, 0};
    const bool none = policy == RecomputePolicy::none;
    out.emplace_back(
        none ? "no --recompute-granularity" : fmt::format("--recompute-granularity {}", name_of(policy)),
        std::move(other));
  }
}

void change_micro_batch(const Plan& plan, std::vector<Changed>& out) {
  const std::int64_t sequences = plan.training.global_batch / plan.parallelism.data;
  for (const std::int64_t size :
       {plan.training.micro_batch / 2, plan.training.micro_batch * 2, plan.training.micro_batch * 4}) {
    if (size < 1 || sequences % size != 0) continue;
    Plan other = plan;
    other.training.micro_batch = size;
    other.training.micro_batches = sequences / size;
    out.emplace_back(fmt::format("--micro-batch-size {}", size), std::move(other));
  }
}

void change_zero(const Plan& plan, std::vector<Changed>& out) {
  const Parallelism& p = plan.parallelism;
  if (p.zero.shards_gradients()) return;
  const bool on = !p.zero.shards_anything();
  Plan other = plan;
  other.parallelism.zero = on ? 1 : 0;
  other.parallelism.zero_shards = on ? p.data * p.strategy.context : 0;
  out.emplace_back(on ? "--use-distributed-optimizer" : "no --use-distributed-optimizer", std::move(other));
}

void change_sequence(const Plan& plan, std::vector<Changed>& out) {
  if (plan.parallelism.strategy.tensor == 1 || plan.parallelism.strategy.sequence_parallel) return;
  Plan other = plan;
  other.parallelism.strategy.sequence_parallel = true;
  for (Stage& stage : other.stages) stage.strategy.sequence_parallel = true;
  out.emplace_back("--sequence-parallel", std::move(other));
}

}  // namespace

FreeFlags with_free_flags(const PlanInputs& inputs) {
  FreeFlags free{inputs, {}};
  if (inputs.recipe.framework != kDefaultRecipe) return free;
  const Overlap usual = load_recipe(std::string(kDefaultRecipe)).overlap;
  for (const Free& row : kFree) {
    double& own = free.inputs.recipe.overlap.*row.part;
    if (own >= usual.*row.part) continue;
    own = usual.*row.part;
    free.flags.emplace_back(row.flag);
  }
  return free;
}

std::string broken_rule(const Plan& plan, const PlanInputs& inputs) {
  const ExportQuestion question{.plan = plan, .inputs = inputs};
  const auto broken = first_broken(export_facts(question, "megatron"), "megatron", megatron_rules());
  return broken ? broken->sentence : "";
}

std::optional<SingleChange> best_single_change(const Plan& plan, const PlanInputs& inputs) {
  std::vector<Changed> all;
  change_recompute(plan, all);
  change_micro_batch(plan, all);
  change_zero(plan, all);
  change_sequence(plan, all);
  Pricer pricer(inputs);
  std::optional<SingleChange> best;
  for (Changed& changed : all) {
    auto& [flag, other] = changed;
    const PricedPlan priced = pricer.price(other);
    if (priced.status != PriceStatus::feasible || (best && priced.predicted.step >= best->step)) continue;
    if (!broken_rule(other, inputs).empty()) continue;
    const double memory = memory_share(with_results(other, priced));
    best = SingleChange{std::move(flag), std::move(other), priced.predicted.step, memory};
  }
  return best;
}

}  // namespace nest::report
