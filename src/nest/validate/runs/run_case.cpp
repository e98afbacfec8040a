#include "nest/validate/runs/run_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "nest/validate/runs/run_cluster.hpp"
#include "nest/validate/runs/run_model.hpp"
#include "nest/validate/runs/run_recipe.hpp"

namespace nest::validate {
namespace {

// MaxText's custom policies with offload: decoder_layer_input=offload alone (run_recipe.sh of the rows' recipes), so that
// what comes into a layer lies in host memory, and all of the layer runs again.
bool offloads_inputs(const RunRow& row) {
  return row.framework == "maxtext" && row.cpu_offload.value_or(false) && mentions(row.recompute, "custom") &&
         mentions(row.recompute, "offload");
}

bool keeps_on_processor(const RunRow& row) {
  if (row.cpu_offload.value_or(false)) return !offloads_inputs(row);
  // "activation CPU-offload ratio alpha=0.0" says that it was off.
  const std::size_t at = row.notes.find("offload ratio alpha=");
  return at != std::string::npos && !row.notes.substr(at).starts_with("offload ratio alpha=0.0");
}

// The modules that a column or, in older tables, the notes name.
RecomputeModules modules_of(const RunRow& row) {
  struct Word {
    std::string_view word;
    RecomputeModule module;
  };
  static constexpr std::array<Word, 8> kWords{{{"core_attn", RecomputeModule::core_attn},
                                               {"norm", RecomputeModule::layernorm},
                                               {"moe_act", RecomputeModule::moe_act},
                                               {"recompute norm,act", RecomputeModule::moe_act},
                                               {"mlp", RecomputeModule::mlp},
                                               {"shared_expert", RecomputeModule::shared_experts},
                                               {"mla_up", RecomputeModule::mla_up_proj},
                                               {"moe ", RecomputeModule::moe}}};
  std::string text = row.recompute_modules;
  const std::size_t at = row.notes.find("recompute ");
  if (text.empty() && row.recompute_policy == "selective" && at != std::string::npos)
    text = row.notes.substr(at, row.notes.find(';', at) - at);
  RecomputeModules out;
  if (text.empty()) return out;
  for (const Word& w : kWords) {
    if (mentions(text + " ", w.word)) out.add(w.module);
  }
  return out;
}

struct PolicyOr {
  std::optional<Recompute> policy;
  std::string why_not;
};

// Selective is what the framework's recipe means by it, unless modules are named. Lists of modules without the attention core (norms,
// activations, a shared expert) are element-wise work mostly: taken as none.
PolicyOr policy_of(const RunRow& row) {
  if (offloads_inputs(row)) return {Recompute{RecomputePolicy::full}, ""};
  const std::string& word = row.recompute_policy;
  if (word == "none") return {Recompute{}, ""};
  if (word == "full") return {Recompute{RecomputePolicy::full}, ""};
  if (const RecomputeModules modules = modules_of(row); !modules.empty())
    return {Recompute{RecomputePolicy::modules, 0, modules}, ""};
  if (word == "selective") {
    const bool lists_modules = (mentions(row.notes, "; recompute ") || mentions(row.notes, ", recompute ")) &&
                               !mentions(row.notes, "core_attn") &&
                               (mentions(row.notes, "act") || mentions(row.notes, "norm"));
    const bool lists_here = mentions(row.recompute, "norm") || mentions(row.recompute, "activation");
    if (lists_modules || lists_here) return {Recompute{}, ""};
    return {Recompute{RecomputePolicy::selective}, ""};
  }
  const auto layers = number_after(row.recompute, "full (");
  if (layers && *layers > 0 && row.pipeline.value_or(1) == 1) {
    return {Recompute{RecomputePolicy::full, *layers}, ""};
  }
  if (word.empty()) return {std::nullopt, "the recomputation policy is not stated"};
  return {std::nullopt, "a recomputation policy that is not modelled: " + row.recompute};
}

std::string batch_problem(const RunRow& row) {
  if (!row.sequence) return "the sequence length is not stated";
  if (!row.micro_batch) return "the micro-batch is not stated";
  constexpr std::int64_t kMost = 100'000'000;  // far beyond any run, and products stay countable
  if (*row.sequence > kMost || *row.micro_batch > static_cast<double>(kMost) ||
      row.global_batch.value_or(1) > kMost) {
    return "the batch or the sequence is out of range";
  }
  if (!(*row.micro_batch > 0)) return "the micro-batch is not above 0";
  return "";
}

bool is_whole(double number) {
  return std::abs(number - std::round(number)) < 1e-9;
}

// Sequences of one micro-batch of a data rank. MaxText's is of one device, and there is one micro-batch a step: a data
// rank's devices share theirs. So do those of tensor and context ranks where FSDP's tables state a part of a sequence.
std::optional<std::int64_t> micro_batch(const RunRow& row, const Parallelism& p) {
  const std::int64_t cell = p.strategy.tensor * p.strategy.context;
  double own = *row.micro_batch * (row.framework == "maxtext" ? static_cast<double>(cell * p.pipeline) : 1);
  const bool fsdp = row.framework == "fsdp" || row.framework == "torchtitan";
  if (!is_whole(own) && fsdp) own *= static_cast<double>(cell);
  if (!is_whole(own) || own < 0.5) return std::nullopt;
  return std::llround(own);
}

// The global batch, where it is missing, from the number of micro-batches that source or notes state.
std::optional<std::int64_t> global_batch(const RunRow& row, std::int64_t data) {
  if (row.global_batch) return row.global_batch;
  for (const std::string* text : {&row.notes, &row.source}) {
    const auto micro_batches = number_after(*text, "micro_num");
    if (micro_batches && *micro_batches > 0 && is_whole(*row.micro_batch))
      return *micro_batches * std::llround(*row.micro_batch) * data;
  }
  return std::nullopt;
}

struct PlanOr {
  std::optional<Plan> plan;
  std::string why_not;
  double last_share = 1;
};

PlanOr degrees(const RunRow& row, const RunRecipe& recipe, std::optional<std::int64_t> slice) {
  Plan plan;
  Parallelism& p = plan.parallelism;
  if (!row.tensor || !row.pipeline) return {std::nullopt, "the parallel degrees are not stated"};
  p.strategy.tensor = *row.tensor;
  p.strategy.context = row.context.value_or(1);
  p.strategy.expert = row.expert.value_or(1);
  if (row.experts) p.strategy.expert_tensor = row.expert_tensor.value_or(1);
  p.strategy.dispatcher = recipe.recipe->dispatcher;
  p.strategy.expert_overlap = recipe.recipe->expert_overlap;
  p.strategy.sequence_parallel =
      p.strategy.tensor > 1 && row.sequence_parallel.value_or(recipe.sequence_parallel);
  if (mentions(row.notes, "cp_comm a2a")) p.strategy.context_method = ContextMethod::all_to_all;
  p.pipeline = *row.pipeline;
  const auto too_many = [&](std::int64_t degree) { return degree > *row.devices; };
  if (too_many(p.strategy.tensor) || too_many(p.strategy.context) || too_many(p.strategy.expert) ||
      too_many(p.pipeline) || too_many(row.data.value_or(1))) {
    return {std::nullopt, "a degree is above the number of devices"};
  }
  if (p.strategy.expert > 1 && !row.experts) return {std::nullopt, "expert groups, but no experts"};
  const std::int64_t rest = p.strategy.tensor * p.strategy.context * p.pipeline;
  p.data = row.data.value_or(*row.devices / rest);
  if (p.data * rest != *row.devices) {
    return {std::nullopt, "the degrees do not multiply up to " + std::to_string(*row.devices) + " devices"};
  }
  if (p.data % p.strategy.side() != 0) {
    return {std::nullopt,
            "expert groups of " + std::to_string(p.strategy.expert) + " do not divide the data groups"};
  }
  // Every framework here numbers ranks with tensor innermost, then context and data, and stages outermost.
  p.data_inner = p.copies();
  p.first_stage_first = true;
  p.zero = row.zero.value_or(recipe.zero);
  if (row.zero_shards) p.zero_shards = *row.zero_shards;
  if (slice && p.zero.shards_parameters()) p.zero_shards = *slice / (p.strategy.tensor * p.pipeline);
  if (p.zero_shards == p.data * p.strategy.context) p.zero_shards = 0;
  p.interleave = std::min(row.interleave.value_or(1), *row.layers);
  if (p.pipeline == 1) p.interleave = 1;
  p.schedule = p.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;

  Training& t = plan.training;
  const auto batch = global_batch(row, p.data);
  if (!batch) return {std::nullopt, "the global batch is not stated"};
  t.global_batch = *batch;
  t.sequence = *row.sequence;
  const auto own = micro_batch(row, p);
  if (!own) return {std::nullopt, "the micro-batch is no whole number of sequences"};
  t.micro_batch = *own;
  const std::int64_t at_once = t.micro_batch * p.data;
  const std::int64_t left = t.global_batch % at_once;
  // Without a pipeline the last micro-batch may be smaller; others divide the batch evenly.
  if (left != 0 && (p.pipeline > 1 || t.global_batch < at_once))
    return {std::nullopt, "the global batch is no whole number of micro-batches"};
  const double share = left == 0 ? 1 : static_cast<double>(left) / static_cast<double>(at_once);
  t.micro_batches = (t.global_batch + at_once - 1) / at_once;
  t.global_batch = t.micro_batches * at_once;
  t.precision = recipe.recipe->precision;
  t.optimizer = recipe.recipe->optimizer;
  t.tuning = row.tuning;
  if (row.documents)
    t.contents.lengths = std::make_shared<const Lengths>(std::vector<LengthCount>{{*row.documents, 1}});
  // Layers that do not divide, but would with embedding and loss as one each, were split so: BLOOM's
  // "transformer|embed", Megatron's account-for-embedding and -loss.
  const std::int64_t parts = p.pipeline * p.interleave;
  if (*row.layers % parts != 0 && (*row.layers + 2) % parts == 0) plan.split = {true, true};
  return {std::move(plan), "", share};
}

}  // namespace

RunCase run_case(const RunRow& row, bool without_own) {
  if (keeps_on_processor(row)) {
    return {std::nullopt, "activations or weights are kept in the processor's memory"};
  }
  if (const std::string why = batch_problem(row); !why.empty()) return {std::nullopt, why};
  RunModel model = run_model(row);
  if (!model.spec) return {std::nullopt, model.why_not};
  const PolicyOr policy = policy_of(row);
  if (!policy.policy) return {std::nullopt, policy.why_not};
  RunRecipe recipe = run_recipe(row, without_own ? row.project() : "");
  if (!recipe.recipe) return {std::nullopt, recipe.why_not};
  RunCluster cluster = run_cluster(row, without_own ? row.project() : "");
  if (!cluster.cluster) return {std::nullopt, cluster.why_not};
  PlanOr plan = degrees(row, recipe, cluster.slice);
  if (!plan.plan) return {std::nullopt, plan.why_not};
  plan.plan->default_recompute = *policy.policy;
  plan.plan->training.states.offload.activations = offloads_inputs(row);
  // GPT-OSS has biases at its experts, a clamped activation and stretched rotary positions, for which Megatron's fused
  // passes do not exist.
  if (mentions(row.model, "gpt-oss") || mentions(row.model, "gpt oss")) recipe.recipe->fused_passes = false;
  // Runs without flash attention are of the years when language models were trained with dropout.
  recipe.recipe->flash_attention = row.flash.value_or(recipe.flash);
  recipe.recipe->dropout = !recipe.recipe->flash_attention;
  PlanInputs inputs{Value(row.model), std::move(*model.spec), std::move(*cluster.cluster),
                    std::move(*recipe.recipe)};
  return {PreparedRun{std::move(inputs), std::move(*plan.plan), plan.last_share}, ""};
}

}  // namespace nest::validate
