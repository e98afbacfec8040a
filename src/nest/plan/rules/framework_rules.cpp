#include "nest/plan/rules/framework_rules.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "nest/model/blocks/build.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

// Ranks that hold the same dense parameters: data and context ranks.
std::int64_t dense_group(const Parallelism& p) {
  return p.copies() * p.strategy.cell() / p.strategy.tensor;
}

std::int64_t shards(const Parallelism& p) {
  if (!p.zero.shards_anything()) return 1;
  return std::max<std::int64_t>(1, p.zero_shards > 0 ? p.zero_shards : dense_group(p));
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

bool ring(const Strategy& s) {
  return s.context == 1 || s.context_method == ContextMethod::ring;
}

bool sequence_in_halves(const PlanDegrees& d) {
  const Strategy& s = d.parallelism.strategy;
  return s.context == 1 || d.training.sequence % (2 * s.context) == 0;
}

// Optimizers of Megatron-LM, each sharded over a part of the ranks.
std::int64_t instances(const Parallelism& p) {
  return p.zero.shards_anything() ? std::max<std::int64_t>(1, dense_group(p) / shards(p)) : 1;
}

constexpr std::array kMegatron{
    FrameworkRule{"experts-need-sequence-parallel",
                  "Megatron-LM needs sequence parallelism where tensor and expert parallelism meet",
                  experts_with_sequence_parallel},
    FrameworkRule{"zero-needs-adam", "Megatron-LM's distributed optimizer is Adam's: SGD runs without ZeRO",
                  [](const PlanDegrees& d) {
                    return d.training.optimizer == Optimizer::adam || !d.parallelism.zero.shards_anything();
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

bool is_family(const PlanInputs& inputs, std::initializer_list<std::string_view> families) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  return spec != nullptr && std::find(families.begin(), families.end(), spec->family) != families.end();
}

constexpr std::array kMegatronInputs{
    InputRule{
        "gpu-devices", "Megatron-LM runs on devices with CUDA or ROCm",
        [](const PlanInputs& inputs, const Training&) { return inputs.cluster.device_software().empty(); }},
    InputRule{"bf16-devices", "Megatron-LM's bf16 needs devices that compute in bf16; fp16 runs on others",
              [](const PlanInputs& inputs, const Training& training) {
                return training.precision != Precision::bf16 || inputs.cluster.computes(MathType::bf16) ||
                       !inputs.cluster.computes(MathType::fp16);
              }},
    InputRule{"no-t5-and-bert", "Megatron-LM has neither T5 nor BERT from core_v0.18 on",
              [](const PlanInputs& inputs, const Training&) { return !is_family(inputs, {"t5", "bert"}); },
              "core_v0.18"},
};

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

// What the main branch asks: it has no expert tensor degree.
bool titan_main(const Parallelism& p) {
  const Strategy& s = p.strategy;
  if (s.expert == 1) return s.expert_tensor_degree() == s.tensor;
  return s.expert_tensor_degree() == 1 && std::max(shards(p), s.context) * s.tensor % s.expert == 0;
}

constexpr std::array kTorchtitan{
    FrameworkRule{"no-fp16", "torchtitan trains in bf16 and fp8",
                  [](const PlanDegrees& d) { return d.training.precision != Precision::fp16; }},
    FrameworkRule{"adam-only", "torchtitan's optimizers are Adam and AdamW",
                  [](const PlanDegrees& d) { return d.training.optimizer == Optimizer::adam; }},
    FrameworkRule{"no-zero-1", "torchtitan shards with FSDP (ZeRO 2 or 3) or not at all: it has no ZeRO 1",
                  [](const PlanDegrees& d) { return !d.parallelism.zero.scatters_at_step_end(); }},
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

constexpr std::array kDeepSpeed{
    FrameworkRule{"no-fp8", "DeepSpeed trains in bf16 and fp16",
                  [](const PlanDegrees& d) { return d.training.precision != Precision::fp8; }},
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

}  // namespace

const FrameworkRule* FrameworkRules::broken(const PlanDegrees& degrees) const {
  const auto at =
      std::find_if(rules.begin(), rules.end(), [&](const FrameworkRule& r) { return !r.allows(degrees); });
  return at == rules.end() ? nullptr : &*at;
}

const InputRule* FrameworkRules::refusal(const PlanInputs& inputs, const Training& training) const {
  const auto at = std::find_if(input_rules.begin(), input_rules.end(),
                               [&](const InputRule& r) { return !r.allows(inputs, training); });
  return at == input_rules.end() ? nullptr : &*at;
}

bool FrameworkRules::has(Schedule schedule) const {
  return schedules.empty() || std::find(schedules.begin(), schedules.end(), schedule) != schedules.end();
}

bool FrameworkRules::has(RecomputePolicy policy) const {
  return std::find(policies.begin(), policies.end(), policy) != policies.end();
}

std::string_view FrameworkRules::why_uncut(const PlanInputs& inputs) const {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (untied_stages && spec != nullptr && spec->head.tied) return "its head has the embedding's weights";
  if (one_decoder && !layer_chain(inputs, inputs.default_sequence()).one_decoder)
    return "the model is not a chain of blocks between an embedding and a head";
  return {};
}

LayerChain layer_chain(const PlanInputs& inputs, std::int64_t sequence) {
  LayerChain chain;
  if (const LayerProfile* profile = inputs.profile()) {
    for (const ProfileLayer& layer : profile->strategies.front().layers) chain.names.push_back(layer.name);
    for (std::size_t i = 0; i < chain.names.size(); ++i)
      chain.blocks.push_back(i > 0 && i + 1 < chain.names.size());
  } else {
    const auto& spec = std::get<ModelSpec>(inputs.source);
    if (spec.positions > 0) sequence = std::min(sequence, spec.positions);
    const Model model = build_model(spec, {.micro_batch = 1, .sequence = sequence});
    for (const Layer& layer : model.layers) {
      chain.names.push_back(layer.name);
      chain.blocks.push_back(model.types[layer.type].is_block);
    }
    if (spec.stacks.size() != 1) return chain;
  }
  const std::vector<bool>& blocks = chain.blocks;
  chain.one_decoder = blocks.size() > 2 && chain.names.front() == "embedding" &&
                      chain.names.back() == "head" && !blocks.front() && !blocks.back() &&
                      std::all_of(blocks.begin() + 1, blocks.end() - 1, [](bool b) { return b; });
  return chain;
}

bool runs_in_titan_022(const Parallelism& parallelism) {
  return titan_022(parallelism);
}

bool runs_in_titan_main(const Parallelism& parallelism) {
  return titan_main(parallelism);
}

bool has_experts(const PlanInputs& inputs) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec == nullptr) return false;
  const auto routed = [](const StackSpec& stack) {
    return std::any_of(stack.blocks.begin(), stack.blocks.end(),
                       [](const BlockSpec& block) { return block.experts.has_value(); });
  };
  return std::any_of(spec->stacks.begin(), spec->stacks.end(), routed);
}

std::int64_t optimizer_instances(const Parallelism& parallelism) {
  return instances(parallelism);
}

namespace {

// With the rules of all releases.
const std::array<FrameworkRules, 3>& whole_tables() {
  static const std::array<FrameworkRules, 3> kAll{
      FrameworkRules{.name = "megatron",
                     .title = "Megatron-LM",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = schedules_of("megatron"),
                     .rules = {kMegatron.begin(), kMegatron.end()},
                     .input_rules = {kMegatronInputs.begin(), kMegatronInputs.end()},
                     .experts_in_sequence = true,
                     .one_decoder = true,
                     .whole_chunks = true},
      FrameworkRules{.name = "torchtitan",
                     .title = "torchtitan",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = schedules_of("torchtitan"),
                     .rules = {kTorchtitan.begin(), kTorchtitan.end()},
                     .whole_recompute = true,
                     .one_decoder = true,
                     .untied_stages = true},
      FrameworkRules{.name = "deepspeed",
                     .title = "DeepSpeed",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = schedules_of("deepspeed"),
                     .rules = {kDeepSpeed.begin(), kDeepSpeed.end()},
                     .whole_recompute = true,
                     .policies = {RecomputePolicy::none, RecomputePolicy::full}},
  };
  return kAll;
}

FrameworkRules of_release(FrameworkRules rules, const ReleaseTable& table, const Release& release) {
  const auto other = [&](const auto& rule) { return !table.within(release, rule.since, rule.until); };
  std::erase_if(rules.rules, other);
  std::erase_if(rules.input_rules, other);
  return rules;
}

using RulesByRelease = std::map<std::string_view, FrameworkRules>;

RulesByRelease by_release(const FrameworkRules& rules) {
  const ReleaseTable& table = *find_releases(rules.name);
  RulesByRelease all;
  for (const Release& release : table.releases) all[release.name] = of_release(rules, table, release);
  return all;
}

}  // namespace

std::span<const FrameworkRules> all_framework_rules() {
  static const std::vector<FrameworkRules> kUsual = [] {
    std::vector<FrameworkRules> usual;
    for (const FrameworkRules& rules : whole_tables()) {
      const ReleaseTable& table = *find_releases(rules.name);
      usual.push_back(of_release(rules, table, table.usual()));
    }
    return usual;
  }();
  return kUsual;
}

const FrameworkRules* find_framework_rules(std::string_view spelling) {
  static const std::map<std::string_view, RulesByRelease> kNamed = [] {
    std::map<std::string_view, RulesByRelease> named;
    for (const FrameworkRules& rules : whole_tables()) named[rules.name] = by_release(rules);
    return named;
  }();
  const SpelledRelease spelled = split_release(spelling);
  if (!spelled.named) {
    for (const FrameworkRules& rules : all_framework_rules()) {
      if (rules.name == spelling) return &rules;
    }
    return nullptr;
  }
  const auto framework = kNamed.find(spelled.framework);
  if (framework == kNamed.end()) return nullptr;
  const Release* release = find_releases(spelled.framework)->find(spelled.release);
  return release == nullptr ? nullptr : &framework->second.at(release->name);
}

}  // namespace nest::plan
