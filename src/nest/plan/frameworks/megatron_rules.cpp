#include <array>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {
namespace {

constexpr std::array kMegatron{
    FrameworkRule{"always-reshards",
                  "NEST's export for Megatron-LM has no words for parameters that stay gathered",
                  always_reshards},
    FrameworkRule{"experts-need-sequence-parallel",
                  "Megatron-LM needs sequence parallelism where tensor and expert parallelism meet",
                  experts_with_sequence_parallel},
    FrameworkRule{"zero-needs-adam", "Megatron-LM's distributed optimizer is Adam's: SGD runs without ZeRO",
                  [](const PlanDegrees& d) {
                    return d.training.optimizer != Optimizer::sgd || !d.parallelism.zero.shards_anything();
                  }},
    FrameworkRule{
        "muon-by-matrices",
        "Megatron-LM deals out Muon's matrices to all data and context ranks (dist_muon): ZeRO 0, or ZeRO 1 "
        "over all of them",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return d.training.optimizer != Optimizer::muon || (!p.zero.shards_gradients() && instances(p) == 1);
        },
        "core_v0.16"},
    FrameworkRule{
        "states-need-zero",
        "Megatron-LM's optimizer with states in fewer than 32 bits is the distributed one: it needs ZeRO "
        "and Adam",
        [](const PlanDegrees& d) {
          return moments_in(d.training, {StateDType::fp32}) ||
                 (d.training.optimizer == Optimizer::adam && d.parallelism.zero.shards_anything());
        }},
    FrameworkRule{"offload-needs-zero-1",
                  "Megatron-LM offloads Adam's states of 32 bits, and its distributed optimizer: ZeRO 1",
                  [](const PlanDegrees& d) {
                    const Zero zero = d.parallelism.zero;
                    return !d.training.states.offload.optimizer ||
                           (d.training.optimizer == Optimizer::adam &&
                            moments_in(d.training, {StateDType::fp32}) && zero.shards_optimizer() &&
                            !zero.shards_gradients());
                  }},
    FrameworkRule{"interleaving-in-rounds",
                  "Megatron-LM interleaves with a pipeline of 2 or more whose degree divides the "
                  "micro-batches",
                  micro_batches_in_rounds},
    FrameworkRule{"sequence-in-halves",
                  "Megatron-LM's context parallelism cuts a sequence into 2 * context equal parts",
                  sequence_in_halves},
    FrameworkRule{"shards-divide-ranks", "Megatron-LM's optimizers are sharded over equal parts of the ranks",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    return !p.zero.shards_anything() || dense_group(p) % shards(p) == 0;
                  }},
    FrameworkRule{"shards-divide-experts",
                  "Megatron-LM splits the ranks of an expert into as many optimizers as those of the rest",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    const Strategy& s = p.strategy;
                    return p.copies() * s.cell() / (s.expert_tensor_degree() * s.expert) % instances(p) == 0;
                  }},
};

constexpr std::array kMegatronInputs{
    InputRule{"gpu-devices", "Megatron-LM runs on devices with CUDA or ROCm", on_gpus},
    InputRule{"bf16-devices", "Megatron-LM's bf16 needs devices that compute in bf16; fp16 runs on others",
              [](const PlanInputs& inputs, const Training& training) {
                return training.precision != Precision::bf16 || inputs.cluster.computes(MathType::bf16) ||
                       !inputs.cluster.computes(MathType::fp16);
              }},
    InputRule{"gradients-as-sent",
              "Megatron-LM reduces gradients in the dtype in which it adds them up: fp32 or bf16 for both",
              gradients_as_sent},
    InputRule{"master-weights", "Megatron-LM keeps 32-bit copies of 16-bit weights",
              [](const PlanInputs&, const Training& training) {
                return training.states.master_weights.value_or(true);
              }},
    InputRule{"activations-on-device",
              "NEST's export for Megatron-LM has no words for activations in host memory",
              activations_on_device},
    InputRule{"no-muon", "Megatron-LM has Muon from core_v0.16 on", without_muon, "", "core_v0.15"},
    InputRule{"no-t5-and-bert", "Megatron-LM has neither T5 nor BERT from core_v0.18 on",
              [](const PlanInputs& inputs, const Training&) { return !is_family(inputs, {"t5", "bert"}); },
              "core_v0.18"},
};

}  // namespace

FrameworkRules megatron_table() {
  return FrameworkRules{.name = "megatron",
                        .title = "Megatron-LM",
                        .same_recompute = true,
                        .contiguous_stages = true,
                        .schedules = schedules_of("megatron"),
                        .rules = {kMegatron.begin(), kMegatron.end()},
                        .input_rules = {kMegatronInputs.begin(), kMegatronInputs.end()},
                        .experts_in_sequence = true,
                        .one_decoder = true,
                        .whole_chunks = true,
                        .policies = {RecomputePolicy::none, RecomputePolicy::selective,
                                     RecomputePolicy::modules, RecomputePolicy::full}};
}

}  // namespace nest::plan
