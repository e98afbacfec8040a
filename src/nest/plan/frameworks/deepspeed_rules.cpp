#include <array>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {
namespace {

constexpr std::array kDeepSpeed{
    FrameworkRule{"usual-precision",
                  "NEST's export for DeepSpeed has no words for fp8-block, mxfp8 and nvfp4", usual_precision},
    FrameworkRule{"usual-exchange",
                  "NEST's export for DeepSpeed sends tokens to experts by a plain all-to-all",
                  usual_exchange},
    FrameworkRule{"no-fp8", "DeepSpeed trains in bf16 and fp16",
                  [](const PlanDegrees& d) { return !is_low(d.training.precision); }},
    FrameworkRule{"offload-needs-zero", "DeepSpeed offloads the optimizer with ZeRO 1, 2 and 3, and Adam",
                  [](const PlanDegrees& d) {
                    return !d.training.states.offload.optimizer ||
                           (d.training.optimizer == Optimizer::adam && d.parallelism.zero.shards_optimizer());
                  }},
    FrameworkRule{"zero-with-pipeline", "DeepSpeed's pipeline engine runs with ZeRO 0 and 1 only",
                  [](const PlanDegrees& d) {
                    return d.parallelism.pipeline == 1 || !d.parallelism.zero.shards_gradients();
                  }},
    FrameworkRule{
        "partial-shards", "DeepSpeed shards over a part of the ranks (MiCS, ZeRO++) with ZeRO 3 only",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return !p.zero.shards_anything() || p.zero.shards_parameters() || shards(p) == dense_group(p);
        }},
    FrameworkRule{
        "reshards-to-a-group",
        "DeepSpeed's ZeRO 3 frees gathered parameters after every pass, or keeps parts of them in groups "
        "(zero_hpz_partition_size) where it shards over all ranks: --reshard always or group:N",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return always_reshards(d) || (p.zero.resharding().group() > 0 && shards(p) == dense_group(p));
        }},
    FrameworkRule{"context-by-heads", "DeepSpeed's context parallelism (Ulysses) is all_to_all",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    return s.context == 1 || s.context_method == ContextMethod::all_to_all;
                  }},
    FrameworkRule{
        "context-without-pipeline",
        "DeepSpeed's pipeline engine lays ranks out by stage, data and tensor: it has no context ranks",
        [](const PlanDegrees& d) {
          return d.parallelism.pipeline == 1 || d.parallelism.strategy.context == 1;
        }},
    FrameworkRule{"tensor-without-sequence-parallel",
                  "DeepSpeed's tensor parallelism (AutoTP) has no sequence parallelism",
                  [](const PlanDegrees& d) { return !d.parallelism.strategy.shards_sequence(); }},
    FrameworkRule{"tensor-with-zero",
                  "DeepSpeed's tensor parallelism (AutoTP) runs with ZeRO 0, 1 and 2 only",
                  [](const PlanDegrees& d) {
                    return d.parallelism.strategy.tensor == 1 || !d.parallelism.zero.shards_parameters();
                  }},
    FrameworkRule{"experts-with-zero", "DeepSpeed's experts run with ZeRO 0, 1 and 2 only",
                  [](const PlanDegrees& d) {
                    return d.parallelism.strategy.expert == 1 || !d.parallelism.zero.shards_parameters();
                  }},
    FrameworkRule{
        "experts-on-data-ranks",
        "DeepSpeed's expert groups are data ranks: no context parallelism, the tensor degree of the "
        "rest",
        [](const PlanDegrees& d) {
          const Strategy& s = d.parallelism.strategy;
          return s.expert_tensor_degree() == s.tensor && (s.expert == 1 || s.context == 1);
        }},
};

constexpr std::array kDeepSpeedInputs{
    InputRule{"optimizer-in-32-bits",
              "DeepSpeed's optimizer holds its states and a copy of the weights in 32 bits",
              [](const PlanInputs&, const Training& t) {
                return moments_in(t, {StateDType::fp32}) && t.states.master_weights.value_or(true);
              }},
    InputRule{"activations-on-device",
              "NEST's export for DeepSpeed has no words for activations in host memory",
              activations_on_device},
    InputRule{"no-muon", "NEST's export for DeepSpeed has no words for Muon", without_muon},
    InputRule{"no-mtp", "plans for DeepSpeed are without modules for multi-token prediction", without_mtp},
};

}  // namespace

FrameworkRules deepspeed_table() {
  return FrameworkRules{.name = "deepspeed",
                        .title = "DeepSpeed",
                        .same_recompute = true,
                        .contiguous_stages = true,
                        .schedules = schedules_of("deepspeed"),
                        .rules = {kDeepSpeed.begin(), kDeepSpeed.end()},
                        .input_rules = {kDeepSpeedInputs.begin(), kDeepSpeedInputs.end()},
                        .whole_recompute = true,
                        .policies = {RecomputePolicy::none, RecomputePolicy::full}};
}

}  // namespace nest::plan
