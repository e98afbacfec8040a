// What a training framework can run, as a table of rules on degrees: `nest plan --for megatron` searches only
// plans that break none, `nest export --to megatron` refuses those that do. Most rules that need a model's
// shape are in src/nest/frameworks.
//
// Rules that hold for some releases only name the first and the last.
//
//   find_framework_rules("megatron@core_v0.16")->broken(degrees)->sentence
//       -> "Megatron-LM needs sequence parallelism where tensor and expert parallelism meet"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/plan/frameworks/framework_releases.hpp"
#include "nest/plan/plan.hpp"

namespace nest::plan {

struct PlanInputs;

// The choices of a plan apart from its stages.
struct PlanDegrees {
  Training training;
  Parallelism parallelism;
};

struct FrameworkRule {
  std::string_view name;      // "zero-with-pipeline"
  std::string_view sentence;  // why: "DeepSpeed's pipeline engine runs with ZeRO 0 and 1 only"
  bool (*allows)(const PlanDegrees& degrees);
  std::string_view since = {};  // the first release with this rule; empty: the oldest
  std::string_view until = {};  // the last; empty: the newest
};

// A rule on what a plan is for and not on its degrees: the model, the devices, the precision.
struct InputRule {
  std::string_view name;
  std::string_view sentence;
  bool (*allows)(const PlanInputs& inputs, const Training& training);
  std::string_view since = {};
  std::string_view until = {};
};

struct FrameworkRules {
  std::string_view name;           // "megatron"
  std::string_view title;          // "Megatron-LM"
  bool same_recompute = false;     // one recomputation policy for all stages
  bool contiguous_stages = false;  // stages are ranges of layers in their order
  std::vector<Schedule> schedules;
  std::vector<FrameworkRule> rules;
  std::vector<InputRule> input_rules;
  bool experts_in_sequence = false;  // models with experts run tensor parallelism with sequence parallelism
  bool same_strategy = true;         // one strategy for all stages: no --mixed
  bool whole_recompute = false;      // a policy holds for all layers of a stage, not for a number of them
  // Stages are cut from an embedding, a chain of blocks and a head; other models run without a pipeline.
  bool one_decoder = false;
  bool untied_stages = false;  // a model whose head has the embedding's weights runs without a pipeline
  bool whole_chunks = false;   // the same for interleaved stages: a number of layers is meant for each chunk
  bool plain_pairs = false;    // passes beside each other whose exchanges with experts hide recompute nothing
  // Whether such a strategy runs by FSDP, which may keep gathered parameters from a forward to a backward pass, and under
  // a pipeline does: plans have ZeRO 3 with resharding `never` for that, and ZeRO 2 where somebody asks for it only.
  bool (*by_fsdp)(const Strategy& strategy) = nullptr;
  std::vector<RecomputePolicy> policies{RecomputePolicy::none, RecomputePolicy::selective,
                                        RecomputePolicy::full};
  // With RecomputePolicy::modules: the sets that it can say; empty: all.
  std::vector<RecomputeModules> module_sets{};

  [[nodiscard]] bool has(Schedule schedule) const;
  [[nodiscard]] bool has(RecomputePolicy policy) const;
  // Whether a number of layers may recompute under this schedule, not only all.
  [[nodiscard]] bool allows_part(std::int64_t interleave) const {
    return !whole_recompute && !(whole_chunks && interleave > 1);
  }

  [[nodiscard]] bool keeps_gathered(const Strategy& strategy) const {
    return by_fsdp != nullptr && by_fsdp(strategy);
  }

  [[nodiscard]] bool has(const Recompute& recompute) const;
  // Whether stages may recompute so under these degrees.
  [[nodiscard]] bool allows(const Parallelism& parallelism, const Recompute& recompute) const;

  // Whether a model can be cut into stages, and why not: "the model is not a chain of ..", "" where it can.
  [[nodiscard]] bool can_cut(const PlanInputs& inputs) const { return why_uncut(inputs).empty(); }
  [[nodiscard]] std::string_view why_uncut(const PlanInputs& inputs) const;

  // The first rule that a model, its devices or its training break.
  [[nodiscard]] const InputRule* refusal(const PlanInputs& inputs, const Training& training) const;

  // The first rule that these degrees break.
  [[nodiscard]] const FrameworkRule* broken(const PlanDegrees& degrees) const;
};

// torchtitan's release and its main branch place experts by different rules; a plan that keeps the table's
// runs in one of them at least.
[[nodiscard]] bool runs_in_titan_022(const Parallelism& parallelism);
[[nodiscard]] bool runs_in_titan_main(const Parallelism& parallelism);
// Groups that ZeRO shards over, side by side: Megatron-LM's --num-distributed-optimizer-instances.
[[nodiscard]] std::int64_t optimizer_instances(const Parallelism& parallelism);
// Whether any block of the model has experts.
[[nodiscard]] bool has_experts(const PlanInputs& inputs);

// The layers of a model in their order, and whether it is an embedding, a chain of blocks and a head.
struct LayerChain {
  std::vector<std::string> names;
  std::vector<bool> blocks;      // which layers are the repeated ones
  std::int64_t predictions = 0;  // modules for multi-token prediction, which stand before the head
  bool one_decoder = false;
};
// `sequence`: only names are asked for, so that one beyond the model's positions does.
[[nodiscard]] LayerChain layer_chain(const PlanInputs& inputs, std::int64_t sequence, bool mtp = false);

// Of the usual releases.
[[nodiscard]] std::span<const FrameworkRules> all_framework_rules();
// By a spelling with or without a release; none where the framework or the release is unknown.
[[nodiscard]] const FrameworkRules* find_framework_rules(std::string_view spelling);

}  // namespace nest::plan
