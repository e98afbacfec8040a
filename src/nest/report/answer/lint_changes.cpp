#include "nest/report/answer/lint_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

using Changed = std::pair<std::string, Plan>;

void turn_recompute(const Knob& knob, const Plan& plan, std::vector<Changed>& out) {
  const Recompute wanted{static_cast<RecomputePolicy>(knob.value), 0};
  Plan other = plan;
  for (Stage& stage : other.stages) stage.recompute = wanted;
  const bool so_already = std::all_of(plan.stages.begin(), plan.stages.end(),
                                      [&](const Stage& stage) { return stage.recompute == wanted; });
  if (!so_already) out.emplace_back(knob.words, std::move(other));
}

void turn_micro_batch(const Knob& knob, const Plan& plan, std::vector<Changed>& out) {
  const std::int64_t sequences = plan.training.global_batch / plan.parallelism.data;
  for (const std::int64_t size :
       {plan.training.micro_batch / 2, plan.training.micro_batch * 2, plan.training.micro_batch * 4}) {
    if (size < 1 || sequences % size != 0) continue;
    Plan other = plan;
    other.training.micro_batch = size;
    other.training.micro_batches = sequences / size;
    out.emplace_back(fmt::format(fmt::runtime(knob.words), size, plan.training.global_batch),
                     std::move(other));
  }
}

void turn_zero(const Knob& knob, const Plan& plan, std::vector<Changed>& out) {
  const Parallelism& p = plan.parallelism;
  if (std::find(knob.from.begin(), knob.from.end(), p.zero.number()) == knob.from.end()) return;
  Plan other = plan;
  const bool shards_already = p.zero.shards_anything() && p.zero_shards > 0;
  other.parallelism.zero = knob.value;
  other.parallelism.zero_shards = knob.value == 0  ? 0
                                  : shards_already ? p.zero_shards
                                                   : p.data * p.strategy.context;
  out.emplace_back(knob.words, std::move(other));
}

void turn_sequence(const Knob& knob, const Plan& plan, std::vector<Changed>& out) {
  if (plan.parallelism.strategy.tensor == 1 || plan.parallelism.strategy.sequence_parallel) return;
  Plan other = plan;
  other.parallelism.strategy.sequence_parallel = true;
  for (Stage& stage : other.stages) stage.strategy.sequence_parallel = true;
  out.emplace_back(knob.words, std::move(other));
}

void turn_reshard(const Knob& knob, const Plan& plan, std::vector<Changed>& out) {
  const Zero& zero = plan.parallelism.zero;
  const Resharding wanted{knob.value == 0 ? Resharding::Kind::always : Resharding::Kind::never, 0};
  if (!zero.shards_parameters() || zero.resharding() == wanted) return;
  Plan other = plan;
  other.parallelism.zero = {zero.number(), wanted};
  out.emplace_back(knob.words, std::move(other));
}

// In the order of Turn.
constexpr std::array kTurns{turn_recompute, turn_micro_batch, turn_zero, turn_sequence, turn_reshard};

bool applies(const Knob& knob, const Plan& plan) {
  if (knob.where == Where::everywhere) return true;
  return (knob.where == Where::in_pipelines) == (plan.parallelism.pipeline > 1);
}

}  // namespace

FreeFlags with_free_flags(const PlanInputs& inputs, const Dialect& dialect) {
  FreeFlags free{inputs, {}};
  if (inputs.recipe.framework != dialect.recipe) return free;
  const Recipe usual = load_recipe(std::string(dialect.recipe));
  Recipe& own = free.inputs.recipe;
  for (const FreeKnob& row : dialect.free) {
    const bool off = row.part != nullptr ? own.overlap.*row.part < usual.overlap.*row.part
                                         : usual.*row.on && !(own.*row.on);
    if (!off) continue;
    if (row.part != nullptr) own.overlap.*row.part = usual.overlap.*row.part;
    if (row.on != nullptr) own.*row.on = true;
    free.flags.emplace_back(row.words);
  }
  return free;
}

std::string broken_rule(const Plan& plan, const PlanInputs& inputs, const Dialect& dialect) {
  const ExportQuestion question{.plan = plan, .inputs = inputs};
  const auto broken =
      first_broken(export_facts(question, dialect.framework), dialect.framework, dialect.rules());
  if (!broken) return "";
  const auto& others = dialect.rules_of_exports;
  return std::find(others.begin(), others.end(), broken->name) == others.end() ? broken->sentence : "";
}

std::optional<SingleChange> best_single_change(const Plan& plan, const PlanInputs& inputs,
                                               const Dialect& dialect) {
  std::vector<Changed> all;
  for (const Knob& knob : dialect.knobs) {
    if (applies(knob, plan)) kTurns.at(static_cast<std::size_t>(knob.turn))(knob, plan, all);
  }
  Pricer pricer(inputs);
  std::optional<SingleChange> best;
  for (Changed& changed : all) {
    auto& [flag, other] = changed;
    const PricedPlan priced = pricer.price(other);
    if (priced.status != PriceStatus::feasible || (best && priced.predicted.step >= best->step)) continue;
    if (!broken_rule(other, inputs, dialect).empty()) continue;
    const double memory = memory_share(with_results(other, priced));
    best = SingleChange{std::move(flag), std::move(other), priced.predicted.step, memory};
  }
  return best;
}

}  // namespace nest::report
