#include <algorithm>
#include <array>
#include <cstdint>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {
namespace {

// What 0.2.2 asks: sequence parallelism beside tensor parallelism, and a mesh of experts that is made of the
// dense one's shard, context and (with expert tensor 1) tensor ranks.
bool titan_022(const Parallelism& p) {
  const Strategy& s = p.strategy;
  if (s.tensor > 1 && !s.sequence_parallel) return false;
  if (s.expert == 1) return s.expert_tensor_degree() == s.tensor;
  const std::int64_t ranks = std::max(shards(p), s.context);
  if (s.expert_tensor_degree() == s.tensor && s.tensor > 1)
    return s.expert % s.context == 0 && ranks % s.expert == 0;
  return s.expert_tensor_degree() == 1 && s.expert % (s.context * s.tensor) == 0 &&
         ranks * s.tensor % s.expert == 0;
}

// What the main branch asks: it has no expert tensor degree, and its pairs run one pass after the other.
bool titan_main(const Parallelism& p) {
  const Strategy& s = p.strategy;
  if (s.overlaps_experts()) return false;
  if (s.expert == 1) return s.expert_tensor_degree() == s.tensor;
  return s.expert_tensor_degree() == 1 && std::max(shards(p), s.context) * s.tensor % s.expert == 0;
}

constexpr std::array kTorchtitan{
    FrameworkRule{"usual-precision",
                  "NEST's export for torchtitan has no words for fp8-block, mxfp8 and nvfp4",
                  usual_precision},
    FrameworkRule{"usual-exchange",
                  "NEST's export for torchtitan sends tokens to experts by a plain all-to-all",
                  [](const PlanDegrees& d) {
                    return d.parallelism.strategy.used_dispatcher() == Dispatcher::alltoall;
                  }},
    FrameworkRule{"overlap-in-pairs",
                  "torchtitan 0.2.2 runs exchanges with experts beside another micro-batch in the pairs of "
                  "dualpipe-v only",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    return !p.strategy.overlaps_experts() || hides_in_pairs(p.schedule, p.strategy);
                  },
                  "", "v0.2.2"},
    FrameworkRule{"no-overlap",
                  "torchtitan's main branch runs no exchange with experts beside another micro-batch",
                  [](const PlanDegrees& d) { return !d.parallelism.strategy.overlaps_experts(); }, "main"},
    FrameworkRule{"no-fp16", "torchtitan trains in bf16 and fp8",
                  [](const PlanDegrees& d) { return d.training.precision != Precision::fp16; }},
    FrameworkRule{"adam-only", "torchtitan's optimizers are Adam and AdamW",
                  [](const PlanDegrees& d) { return d.training.optimizer == Optimizer::adam; }},
    FrameworkRule{"no-zero-1", "torchtitan shards with FSDP (ZeRO 2 or 3) or not at all: it has no ZeRO 1",
                  [](const PlanDegrees& d) { return !d.parallelism.zero.scatters_at_step_end(); }},
    FrameworkRule{"reshards-all-or-none",
                  "torchtitan frees the gathered parameters of all layers after a forward pass or of none "
                  "(fsdp_reshard_after_forward): --reshard always or never",
                  reshards_all_or_none},
    FrameworkRule{
        "context-is-sharded",
        "torchtitan's FSDP shards over context ranks too: context parallelism needs ZeRO 2 or 3 over "
        "a multiple of the context degree",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return p.strategy.context == 1 ||
                 (p.zero.shards_gradients() && shards(p) % p.strategy.context == 0);
        }},
    FrameworkRule{"context-by-ring", "torchtitan's context parallelism is ring attention",
                  [](const PlanDegrees& d) { return ring(d.parallelism.strategy); }},
    FrameworkRule{"sequence-in-halves",
                  "torchtitan's context parallelism cuts a sequence into 2 * context equal parts",
                  sequence_in_halves},
    FrameworkRule{
        "replicas-alone",
        "torchtitan 0.2.2 runs tensor and pipeline parallelism with FSDP over 2 or more ranks only: "
        "replicas crash beside them, and one copy trains in 32 bits (torchtitan@main runs both)",
        [](const PlanDegrees& d) {
          const Parallelism& p = d.parallelism;
          return (p.strategy.tensor == 1 && p.pipeline == 1) || (p.zero.shards_gradients() && shards(p) > 1);
        },
        "", "v0.2.2"},
    FrameworkRule{"expert-tensor", "torchtitan's experts have a tensor degree of 1 or that of the rest",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    const std::int64_t x = s.expert_tensor_degree();
                    return x == s.tensor || (s.expert > 1 && x == 1);
                  }},
    FrameworkRule{"experts-in-shards",
                  "torchtitan's expert degree divides the ranks that FSDP shards over (times the tensor "
                  "degree where expert tensor is 1)",
                  [](const PlanDegrees& d) { return titan_022(d.parallelism) || titan_main(d.parallelism); }},
    FrameworkRule{"interleaving-in-rounds",
                  "torchtitan interleaves with a pipeline of 2 or more whose degree divides the "
                  "micro-batches",
                  micro_batches_in_rounds},
};

constexpr std::array kTorchtitanInputs{
    InputRule{
        "states-in-32-bits",
        "torchtitan holds weights, gradients and optimizer states in 32 bits, without further copies, and "
        "reduces gradients in 32 bits",
        [](const PlanInputs&, const Training& t) {
          return gradients_in(t, {StateDType::fp32}) && reductions_in(t, {StateDType::fp32}) &&
                 moments_in(t, {StateDType::fp32}) && !t.states.master_weights.value_or(false);
        }},
    InputRule{"activations-on-device",
              "NEST's export for torchtitan has no words for activations in host memory",
              activations_on_device},
    InputRule{"no-muon", "torchtitan's optimizers are Adam and AdamW", without_muon},
    InputRule{
        "no-offload",
        "torchtitan's enable_cpu_offload takes parameters to the host with the optimizer, which no plan does",
        without_offload},
    InputRule{"no-mtp", "torchtitan's models have no modules for multi-token prediction", without_mtp},
};

}  // namespace

bool runs_in_titan_022(const Parallelism& parallelism) {
  return titan_022(parallelism);
}

bool runs_in_titan_main(const Parallelism& parallelism) {
  return titan_main(parallelism);
}

FrameworkRules torchtitan_table() {
  return FrameworkRules{.name = "torchtitan",
                        .title = "torchtitan",
                        .same_recompute = true,
                        .contiguous_stages = true,
                        .schedules = schedules_of("torchtitan"),
                        .rules = {kTorchtitan.begin(), kTorchtitan.end()},
                        .input_rules = {kTorchtitanInputs.begin(), kTorchtitanInputs.end()},
                        .whole_recompute = true,
                        .one_decoder = true,
                        .untied_stages = true,
                        .plain_pairs = true,
                        .by_fsdp = [](const Strategy&) { return true; }};
}

}  // namespace nest::plan
