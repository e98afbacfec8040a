#include "nest/plan/frameworks/degree_rules.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {

std::int64_t dense_group(const Parallelism& p) {
  return p.copies() * p.strategy.cell() / p.strategy.tensor;
}

std::int64_t shards(const Parallelism& p) {
  if (!p.zero.shards_anything()) return 1;
  return std::max<std::int64_t>(1, p.zero_shards > 0 ? p.zero_shards : dense_group(p));
}

std::int64_t instances(const Parallelism& p) {
  return p.zero.shards_anything() ? std::max<std::int64_t>(1, dense_group(p) / shards(p)) : 1;
}

bool usual_precision(const PlanDegrees& d) {
  return !is_low(d.training.precision) || d.training.precision == Precision::fp8;
}

bool usual_exchange(const PlanDegrees& d) {
  const Strategy& s = d.parallelism.strategy;
  return s.used_dispatcher() == Dispatcher::alltoall && !s.overlaps_experts();
}

bool experts_with_sequence_parallel(const PlanDegrees& d) {
  const Strategy& s = d.parallelism.strategy;
  return s.tensor == 1 || s.expert == 1 || s.sequence_parallel;
}

bool micro_batches_in_rounds(const PlanDegrees& d) {
  const Parallelism& p = d.parallelism;
  return p.interleave == 1 || (p.pipeline > 1 && (!schedule_of(p.schedule).in_rounds ||
                                                  d.training.micro_batches % p.pipeline == 0));
}

bool always_reshards(const PlanDegrees& d) {
  return d.parallelism.zero.resharding().kind == Resharding::Kind::always;
}

bool reshards_all_or_none(const PlanDegrees& d) {
  return always_reshards(d) || d.parallelism.zero.resharding().kind == Resharding::Kind::never;
}

bool ring(const Strategy& s) {
  return s.context == 1 || s.context_method == ContextMethod::ring;
}

bool not_hybrid(const PlanDegrees& d) {
  return !d.parallelism.strategy.hybrid();
}

bool sequence_in_halves(const PlanDegrees& d) {
  const Strategy& s = d.parallelism.strategy;
  return s.context == 1 || d.training.sequence % (2 * s.context) == 0;
}

bool is_family(const PlanInputs& inputs, std::initializer_list<std::string_view> families) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  return spec != nullptr && std::find(families.begin(), families.end(), spec->family) != families.end();
}

namespace {

bool in(const std::optional<StateDType>& chosen, std::initializer_list<StateDType> dtypes) {
  return !chosen || std::ranges::find(dtypes, *chosen) != dtypes.end();
}

}  // namespace

bool gradients_in(const Training& training, std::initializer_list<StateDType> dtypes) {
  return in(training.states.gradients, dtypes);
}

bool reductions_in(const Training& training, std::initializer_list<StateDType> dtypes) {
  return in(training.states.reduction, dtypes);
}

bool moments_in(const Training& training, std::initializer_list<StateDType> dtypes) {
  return in(training.states.moments, dtypes);
}

bool gradients_as_sent(const PlanInputs& inputs, const Training& training) {
  const States& states = training.states;
  if (!states.gradients && !states.reduction) return true;
  const Recipe recipe = with_states(inputs.recipe, states);
  return recipe.gradient_dtype == recipe.reduce_dtype && recipe.gradient_dtype != StateDType::fp16;
}

bool without_mtp(const PlanInputs& /*inputs*/, const Training& training) {
  return !training.mtp;
}

bool without_offload(const PlanInputs& /*inputs*/, const Training& training) {
  return !training.states.offload.optimizer;
}

bool activations_on_device(const PlanInputs& /*inputs*/, const Training& training) {
  return !training.states.offload.activations;
}

bool without_muon(const PlanInputs& /*inputs*/, const Training& training) {
  return training.optimizer != Optimizer::muon;
}

bool on_gpus(const PlanInputs& inputs, const Training&) {
  return inputs.cluster.device_software().empty();
}

}  // namespace nest::plan
