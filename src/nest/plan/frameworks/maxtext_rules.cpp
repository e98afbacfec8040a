#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {
namespace {

// Sequences of one device are written as a number with a point; the product with the devices must come out whole.
bool batch_is_exact(const PlanDegrees& d) {
  const Parallelism& p = d.parallelism;
  const std::int64_t passes = p.pipeline > 1 ? d.training.micro_batches : 1;
  const std::int64_t sequences = d.training.micro_batch * p.data * passes;
  const std::int64_t devices = p.devices();
  const std::int64_t parts = devices / std::gcd(sequences, devices);
  return std::has_single_bit(static_cast<std::uint64_t>(parts));
}

constexpr std::array kMaxText{
    FrameworkRule{"usual-precision", "NEST's export for MaxText has no words for fp8-block, mxfp8 and nvfp4",
                  usual_precision},
    FrameworkRule{"usual-exchange", "NEST's export for MaxText sends tokens to experts by a plain all-to-all",
                  usual_exchange},
    FrameworkRule{"no-fp16", "MaxText trains in bf16 and fp8: it scales no losses",
                  [](const PlanDegrees& d) { return d.training.precision != Precision::fp16; }},
    FrameworkRule{"always-reshards",
                  "NEST's export for MaxText has no words for parameters that stay gathered",
                  always_reshards},
    FrameworkRule{"no-zero-2", "MaxText has ZeRO 0, 1 and 3 (data, data with a sharded optimizer, fsdp)",
                  [](const PlanDegrees& d) {
                    const Zero& zero = d.parallelism.zero;
                    return !zero.shards_gradients() || zero.shards_parameters();
                  }},
    FrameworkRule{"zero-1-whole", "MaxText's ZeRO 1 shards over all data ranks",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    return !p.zero.scatters_at_step_end() || shards(p) == dense_group(p);
                  }},
    FrameworkRule{"pipeline-by-gpipe",
                  "MaxText's pipeline runs all forward passes before the backward passes (gpipe)",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    return p.interleave == 1 && (p.pipeline == 1 || p.schedule == Schedule::gpipe);
                  }},
    FrameworkRule{
        "micro-batches-in-rounds", "MaxText's pipeline degree divides its micro-batches",
        [](const PlanDegrees& d) { return d.training.micro_batches % d.parallelism.pipeline == 0; }},
    FrameworkRule{
        "context-is-sharded",
        "MaxText shards weights over context ranks too: context parallelism needs ZeRO 3 over a multiple "
        "of the context degree",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return p.strategy.context == 1 ||
                 (p.zero.shards_parameters() && shards(p) % p.strategy.context == 0);
        }},
    FrameworkRule{"context-by-ring",
                  "MaxText's context parallelism on all devices is that of keys and values",
                  [](const PlanDegrees& d) { return ring(d.parallelism.strategy); }},
    FrameworkRule{"sequence-in-halves",
                  "MaxText's context parallelism cuts a sequence into 2 * context equal parts",
                  sequence_in_halves},
    FrameworkRule{"expert-tensor", "MaxText's experts have the tensor degree of the rest",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    return s.expert_tensor_degree() == s.tensor;
                  }},
    FrameworkRule{
        "experts-on-data-ranks",
        "MaxText's expert ranks are data ranks over which it shards all weights: they need ZeRO 3 over a "
        "multiple of the expert degree, and no context parallelism",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return p.strategy.expert == 1 || (p.strategy.context == 1 && p.zero.shards_parameters() &&
                                            shards(p) % p.strategy.expert == 0);
        }},
    FrameworkRule{
        "exact-batch",
        "MaxText's batch of one device is a number with a point: sequences per device must be a whole "
        "number of halves, quarters and so on",
        batch_is_exact},
};

constexpr std::array kInputs{
    InputRule{"devices", "MaxText runs on TPUs and on devices with CUDA or ROCm",
              [](const PlanInputs& inputs, const Training&) {
                const std::string& software = inputs.cluster.device_software();
                return software.empty() || software == "xla";
              }},
    InputRule{"dtypes",
              "MaxText reduces gradients in bf16, holds no copies of weights, and has a dtype for the first "
              "moment only",
              [](const PlanInputs&, const Training& t) {
                return reductions_in(t, {StateDType::bf16}) && moments_in(t, {StateDType::fp32}) &&
                       !t.states.master_weights.value_or(false);
              }},
    InputRule{"activations-on-device",
              "NEST's export for MaxText has no words for activations in host memory", activations_on_device},
    InputRule{
        "no-offload",
        "MaxText's optimizer_memory_host_offload brings states back to the device for their update, which no "
        "plan does",
        without_offload},
    InputRule{"no-mtp", "plans for MaxText are without modules for multi-token prediction", without_mtp},
    InputRule{
        "model-family",
        "MaxText builds models like Llama, Mistral, Mixtral, Qwen 2 and 3, Gemma 1 and 2, GPT-3 and DeepSeek",
        [](const PlanInputs& inputs, const Training&) {
          return is_family(inputs, {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma",
                                    "gemma2", "gpt2", "deepseek_v2", "deepseek_v3"});
        }},
};

}  // namespace

FrameworkRules maxtext_table() {
  return FrameworkRules{
      .name = "maxtext",
      .title = "MaxText",
      .same_recompute = true,
      .contiguous_stages = true,
      .schedules = {Schedule::one_f_one_b, Schedule::gpipe},
      .rules = {kMaxText.begin(), kMaxText.end()},
      .input_rules = {kInputs.begin(), kInputs.end()},
      .whole_recompute = true,
      .one_decoder = true,
      .policies = {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::modules,
                   RecomputePolicy::full},
      .module_sets = {{RecomputeModule::mlp}, {RecomputeModule::core_attn, RecomputeModule::mlp}}};
}

}  // namespace nest::plan
