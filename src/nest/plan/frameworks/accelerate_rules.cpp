#include <array>
#include <cstdint>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {
namespace {

bool ulysses(const Strategy& s) {
  return s.context > 1 && s.context_method == ContextMethod::all_to_all;
}

// ZeRO 1 and Ulysses are DeepSpeed's; what shards nothing needs neither DeepSpeed nor FSDP.
bool by_deepspeed(const Parallelism& p) {
  return (p.zero.scatters_at_step_end() && shards(p) > 1) || ulysses(p.strategy);
}

constexpr std::array kAccelerate{
    FrameworkRule{"usual-precision",
                  "NEST's export for Accelerate has no words for fp8-block, mxfp8 and nvfp4",
                  usual_precision},
    FrameworkRule{"usual-exchange",
                  "NEST's export for Accelerate sends tokens to experts by a plain all-to-all",
                  usual_exchange},
    FrameworkRule{"no-pipeline", "Accelerate has no pipeline for training",
                  [](const PlanDegrees& d) { return d.parallelism.pipeline == 1; }},
    FrameworkRule{"no-expert-parallelism", "Accelerate has no expert ranks",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    return s.expert == 1 && s.expert_tensor_degree() == s.tensor;
                  }},
    FrameworkRule{
        "tensor-without-sequence-parallel",
        "Accelerate's tensor parallelism is that of Transformers, which keeps whole sequences on every rank",
        [](const PlanDegrees& d) { return !d.parallelism.strategy.shards_sequence(); }},
    FrameworkRule{
        "tensor-with-copies",
        "Accelerate runs tensor parallelism with one copy or with ZeRO 2 or 3 over 2 or more data ranks, "
        "not beside plain copies",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return p.strategy.tensor == 1 || p.data == 1 ||
                 (p.zero.shards_gradients() && shards(p) > p.strategy.context);
        }},
    FrameworkRule{"reshards-all-or-none",
                  "in Accelerate FSDP frees the gathered parameters of all layers after a forward pass or of "
                  "none (fsdp_reshard_after_forward), and DeepSpeed frees them",
                  [](const PlanDegrees& d) {
                    return by_deepspeed(d.parallelism) ? always_reshards(d) : reshards_all_or_none(d);
                  }},
    FrameworkRule{
        "context-is-sharded",
        "Accelerate's FSDP shards over context ranks too: ring attention needs ZeRO 2 or 3 over a multiple "
        "of the context degree, and over 2 or more data ranks where there are several",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          const std::int64_t context = p.strategy.context;
          return context == 1 || ulysses(p.strategy) ||
                 (p.zero.shards_gradients() && shards(p) % context == 0 &&
                  (p.data == 1 || shards(p) > context));
        }},
    FrameworkRule{"no-hybrid-context",
                  "Accelerate's context parallelism is a ring or Ulysses over all context ranks, not both",
                  not_hybrid},
    FrameworkRule{
        "sequence-in-halves", "Accelerate's ring attention cuts a sequence into 2 * context equal parts",
        [](const PlanDegrees& d) { return ulysses(d.parallelism.strategy) || sequence_in_halves(d); }},
    FrameworkRule{
        "deepspeed-alone",
        "in Accelerate ZeRO 1 and Ulysses are DeepSpeed's, beside which it has no tensor parallelism",
        [](const PlanDegrees& d) {
          return !by_deepspeed(d.parallelism) || d.parallelism.strategy.tensor == 1;
        }},
    FrameworkRule{
        "deepspeed-shards-whole",
        "in Accelerate ZeRO 1 and Ulysses are DeepSpeed's, which shards over all data and context ranks",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return !by_deepspeed(p) || !p.zero.shards_anything() || shards(p) == dense_group(p);
        }},
    FrameworkRule{"ulysses-with-zero", "Accelerate runs Ulysses with ZeRO 1, 2 or 3",
                  [](const PlanDegrees& d) {
                    return !ulysses(d.parallelism.strategy) || d.parallelism.zero.shards_anything();
                  }},
    FrameworkRule{
        "offload-with-deepspeed",
        "Accelerate's FSDP offloads parameters with the optimizer, which no plan does; DeepSpeed, which runs "
        "ZeRO 1 and Ulysses, offloads Adam's states alone",
        [](const PlanDegrees& d) {
          return !d.training.states.offload.optimizer ||
                 (by_deepspeed(d.parallelism) && d.parallelism.zero.shards_optimizer() &&
                  d.training.optimizer == Optimizer::adam);
        }},
    FrameworkRule{"fp8-without-deepspeed",
                  "Accelerate's fp8 is torchao's, which runs without DeepSpeed: not with ZeRO 1 or Ulysses",
                  [](const PlanDegrees& d) {
                    return d.training.precision != Precision::fp8 || !by_deepspeed(d.parallelism);
                  }},
};

constexpr std::array kAccelerateInputs{
    InputRule{"gpu-devices", "Accelerate's FSDP, DDP and DeepSpeed run on devices with CUDA or ROCm",
              on_gpus},
    InputRule{
        "dtypes",
        "in Accelerate gradients and optimizer states have the dtype of the weights, of which it holds no "
        "copies, and reductions are in bf16",
        [](const PlanInputs& inputs, const Training& t) {
          const StateDType weights = inputs.recipe.parameter_dtype;
          return gradients_in(t, {weights}) && reductions_in(t, {StateDType::bf16}) &&
                 moments_in(t, {weights}) && !t.states.master_weights.value_or(false);
        }},
    InputRule{"activations-on-device",
              "NEST's export for Accelerate has no words for activations in host memory",
              activations_on_device},
    InputRule{"no-muon", "NEST's export for Accelerate has no words for Muon", without_muon},
    InputRule{"no-mtp", "plans for Accelerate are without modules for multi-token prediction", without_mtp},
};

}  // namespace

FrameworkRules accelerate_table() {
  return FrameworkRules{.name = "accelerate",
                        .title = "Accelerate",
                        .same_recompute = true,
                        .contiguous_stages = true,
                        .schedules = {Schedule::one_f_one_b},
                        .rules = {kAccelerate.begin(), kAccelerate.end()},
                        .input_rules = {kAccelerateInputs.begin(), kAccelerateInputs.end()},
                        .whole_recompute = true,
                        .by_fsdp = [](const Strategy& s) { return !ulysses(s); },
                        .policies = {RecomputePolicy::none, RecomputePolicy::full}};
}

}  // namespace nest::plan
