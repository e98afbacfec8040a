#include "nest/frameworks/megatron/megatron_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/megatron/megatron_details.hpp"
#include "nest/frameworks/megatron/megatron_layout.hpp"
#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem sequence_too_long(const ExportFacts& f) {
  if (f.spec == nullptr || f.spec->positions == 0 || f.plan().training.sequence <= f.spec->positions)
    return std::nullopt;
  return fmt::format("{} tokens, {} positions", f.plan().training.sequence, f.spec->positions);
}

// Of all blocks with experts, also where no expert rank shares them out.
Problem experts_without_sequence(const ExportFacts& f) {
  const Strategy& s = f.strategy();
  if (f.experts() == nullptr || s.tensor == 1 || s.sequence_parallel) return std::nullopt;
  return fmt::format("tensor {} without sequence parallelism", s.tensor);
}

constexpr std::array kRules{
    ExportRule{"experts-need-sequence-parallel",
               "Megatron-LM trains experts with tensor parallelism only if sequence parallelism is on",
               experts_without_sequence},
    ExportRule{"world",
               "Megatron-LM's ranks are tensor x context x pipeline x data, and split for experts too",
               world_does_not_split},
    ExportRule{"batch", "Megatron-LM's global batch is micro-batch x data x a number of micro-batches",
               batch_does_not_split},
    ExportRule{"heads", "Megatron-LM splits attention heads evenly over tensor ranks", heads_do_not_split},
    ExportRule{"query-groups", "Megatron-LM's query groups divide the tensor degree or are divided by it",
               query_groups_do_not_split},
    ExportRule{"ffn", "Megatron-LM splits the ffn evenly over tensor ranks", ffn_does_not_split},
    ExportRule{"experts", "Megatron-LM splits experts evenly over expert ranks", experts_do_not_split},
    ExportRule{"sequence", "Megatron-LM splits the sequence evenly over context and sequence-parallel ranks",
               sequence_does_not_split},
    ExportRule{"one-decoder", "Megatron-LM's pipeline has an embedding, equal blocks and a head in a chain",
               not_a_decoder},
    // Last: what is written says as many positions as a sequence has tokens, and only a file that is read can break it.
    ExportRule{"positions", "Megatron-LM's sequence is no longer than the model's positions",
               sequence_too_long},
};

const char* comm_type(ContextMethod method) {
  constexpr std::array<const char*, 3> kTypes{"p2p", "a2a", "a2a+p2p"};
  return kTypes[static_cast<std::size_t>(method)];
}

FlagSection parallelism_flags(const ExportFacts& f, RankOrder order) {
  const Parallelism& p = f.parallelism();
  const Strategy& s = p.strategy;
  FlagSection flags{"Parallelism", {}};
  flags.add("--tensor-model-parallel-size", s.tensor);
  if (s.shards_sequence()) flags.add("--sequence-parallel");
  flags.add("--context-parallel-size", s.context);
  if (s.context > 1) flags.add("--cp-comm-type", comm_type(s.context_method));
  if (s.hybrid()) {
    // Of neighbours, that trade heads, and of rings across.
    flags.add("--hierarchical-context-parallel-sizes");
    flags.flags.back().values = {std::to_string(s.trading_ranks()), std::to_string(s.ring_ranks())};
  }
  if (f.experts() != nullptr || s.expert > 1) {
    flags.add("--expert-model-parallel-size", s.expert);
    flags.add("--expert-tensor-parallel-size", s.expert_tensor_degree());
  }
  flags.add("--pipeline-model-parallel-size", p.pipeline);
  if (p.pipeline > 1) {
    if (!f.even()) {
      flags.add("--pipeline-model-parallel-layout", layout_text(f.parts));
    } else if (p.interleave > 1) {
      flags.add("--num-virtual-stages-per-pipeline-rank", p.interleave);
    }
  }
  if (f.plan().training.mtp) flags.add("--mtp-num-layers", f.spec->mtp_layers);
  if (order == RankOrder::stage_before_data) flags.add("--use-tp-pp-dp-mapping");
  return flags;
}

std::string dtype_name(StateDType dtype) {
  return std::string(name_of(dtype));
}

FlagSection state_flags(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  FlagSection flags{fmt::format("ZeRO {}", p.zero.number()), {}};
  if (!p.zero.shards_anything()) return flags;
  // dist_muon has a distributed optimizer of its own.
  if (f.plan().training.optimizer == Optimizer::muon) return flags;
  flags.add("--use-distributed-optimizer");
  if (p.zero.shards_gradients()) {
    flags.add("--use-megatron-fsdp");
    flags.add("--data-parallel-sharding-strategy",
              p.zero.shards_parameters() ? "optim_grads_params" : "optim_grads");
    flags.add("--ckpt-format", "fsdp_dtensor").add("--no-gradient-accumulation-fusion");
    flags.add("--init-model-with-meta-device");  // no rank builds the whole model
    // Older releases hold and reduce gradients as the other flags say; since then the default is the model's dtype.
    if (is_since(*f.release, "core_v0.17")) {
      flags.add("--megatron-fsdp-main-grads-dtype", dtype_name(f.recipe().gradient_dtype));
      flags.add("--megatron-fsdp-grad-comm-dtype", dtype_name(f.recipe().reduce_dtype));
    }
  }
  if (f.plan().training.states.offload.optimizer) {
    flags.add("--optimizer-cpu-offload").add("--optimizer-offload-fraction", "1.0");
    flags.add("--use-precision-aware-optimizer");  // whose code path it takes
    flags.add("--overlap-cpu-optimizer-d2h-h2d");
  }
  if (const StateDType moments = f.recipe().optimizer_dtype;
      f.plan().training.states.moments && moments != StateDType::fp32) {
    flags.add("--use-precision-aware-optimizer");
    flags.add("--exp-avg-dtype", dtype_name(moments)).add("--exp-avg-sq-dtype", dtype_name(moments));
  }
  if (const std::int64_t n = optimizer_instances(p); n > 1)
    flags.add("--num-distributed-optimizer-instances", n);
  return flags;
}

FlagSection recompute_flags(const ExportFacts& f, std::vector<std::string>& lost) {
  FlagSection flags{"Recomputation", {}};
  const Recompute r = f.recompute().value_or(f.plan().stages.front().recompute);
  if (r.policy == RecomputePolicy::selective) {
    flags.add("--recompute-granularity", "selective").add("--recompute-modules", "core_attn");
    if (f.recipe().selective_recompute != SelectiveRecompute::core_attention)
      lost.emplace_back(
          "selective recomputation is of the attention core, the recipe means single operators");
  } else if (r.policy == RecomputePolicy::modules) {
    flags.add("--recompute-granularity", "selective").add("--recompute-modules", names_of(r.modules));
  } else if (r.policy == RecomputePolicy::full) {
    flags.add("--recompute-granularity", "full");
    flags.add("--recompute-method", r.layers > 0 ? "block" : "uniform");
    flags.add("--recompute-num-layers", std::max<std::int64_t>(1, r.layers));
  }
  return flags;
}

FlagSection overlap_flags(const ExportFacts& f, std::vector<std::string>& lost) {
  FlagSection flags{"Communication", {}};
  const Overlap& o = f.recipe().overlap;
  const Parallelism& p = f.parallelism();
  if (o.gradient_reduce > 0) flags.add("--overlap-grad-reduce");
  if (o.parameter_gather > 0 && p.zero.shards_anything()) {
    if (o.gradient_reduce > 0) {
      flags.add("--overlap-param-gather");
    } else {
      lost.emplace_back(
          "parameters are gathered without overlap: Megatron-LM overlaps that only with gradients");
    }
  }
  if (o.tensor > 0 && p.strategy.tensor > 1) {
    if (p.strategy.shards_sequence()) {
      flags.add("--tp-comm-overlap");
    } else {
      lost.emplace_back("tensor collectives overlap with sequence parallelism only");
    }
  }
  if (p.interleave > 1 && o.interleaved_sends == 0 && o.pipeline == 0) {
    if (p.pipeline > 2) {
      flags.add("--no-overlap-p2p-communication");
    } else {
      lost.emplace_back("two interleaved stages always overlap their sends");
    }
  }
  if (o.expert > 0 && p.strategy.expert > 1)
    lost.emplace_back(
        "expert collectives run without overlap: --overlap-moe-expert-parallel-comm has more needs");
  const Strategy& s = p.strategy;
  const AttentionSpec* a = f.attention();
  if (s.trading_ranks() > 1 && a != nullptr &&
      std::max<std::int64_t>(1, a->kv_heads / s.tensor) % s.trading_ranks() != 0)
    lost.emplace_back(
        "all-to-all context parallelism repeats key and value heads in the plan; Transformer Engine wants "
        "the ranks of an all-to-all to divide them");
  if (f.recipe().reduce_dtype != StateDType::fp32) flags.add("--grad-reduce-in-bf16");
  return flags;
}

struct PrecisionFlags {
  Precision precision;
  const char* format;  // of --fp8-format or, for nvfp4, of --fp4-format
  const char* recipe;  // nullptr: Megatron's own
};
constexpr std::array<PrecisionFlags, 4> kPrecisionFlags{{{Precision::fp8, "hybrid", nullptr},
                                                         {Precision::fp8_block, "e4m3", "blockwise"},
                                                         {Precision::mxfp8, "e4m3", "mxfp8"},
                                                         {Precision::nvfp4, "e2m1", "nvfp4"}}};

void add_precision(FlagSection& flags, Precision precision, const Recipe& recipe) {
  for (const PrecisionFlags& row : kPrecisionFlags) {
    if (row.precision != precision) continue;
    const bool four = precision == Precision::nvfp4;
    flags.add(four ? "--fp4-format" : "--fp8-format", row.format);
    if (row.recipe != nullptr) flags.add(four ? "--fp4-recipe" : "--fp8-recipe", row.recipe);
    if (recipe.low_casts == LowCasts::held && !four) flags.add("--fp8-param-gather");
  }
}

FlagSection training_flags(const ExportFacts& f, std::vector<std::string>& lost) {
  const Training& t = f.plan().training;
  const Recipe& r = f.recipe();
  FlagSection flags{"Training", {}};
  flags.add("--micro-batch-size", t.micro_batch).add("--global-batch-size", t.global_batch);
  flags.add("--seq-length", t.sequence);
  const std::int64_t positions = f.spec != nullptr ? f.spec->positions : 0;
  flags.add("--max-position-embeddings", std::max(t.sequence, positions));
  flags.add(t.precision == Precision::fp16 ? "--fp16" : "--bf16");
  add_precision(flags, t.precision, r);
  const bool shared = t.optimizer == Optimizer::muon && f.plan().parallelism.zero.shards_anything();
  flags.add("--optimizer", (shared ? "dist_" : "") + std::string(name_of(t.optimizer)));
  if (t.optimizer == Optimizer::sgd && !r.momentum) flags.add("--sgd-momentum", "0.0");
  // "flash" would leave out cuDNN's kernels, and with them all that latent attention has.
  flags.add("--attention-backend", r.flash_attention ? "auto" : "unfused");
  // Kernels make the causal mask themselves; the loader's has sequence x sequence values for each sample.
  flags.add("--no-create-attention-mask-in-dataloader");
  if (!r.dropout) flags.add("--attention-dropout", "0.0").add("--hidden-dropout", "0.0");
  if (f.experts() != nullptr) {
    const Strategy& s = f.plan().parallelism.strategy;
    const bool flex = s.used_dispatcher() != Dispatcher::alltoall;
    flags.add("--moe-token-dispatcher-type", flex ? "flex" : "alltoall");
    if (flex) flags.add("--moe-flex-dispatcher-backend", std::string(name_of(s.dispatcher)));
    if (s.overlaps_experts()) flags.add("--overlap-moe-expert-parallel-comm");
    if (t.precision != Precision::fp16) flags.add("--moe-grouped-gemm");
  }
  if (!r.master_weights || r.parameter_dtype == StateDType::fp32 ||
      (r.optimizer_dtype != StateDType::fp32 && !t.states.moments))
    lost.emplace_back(
        "Megatron-LM holds 16-bit weights with 32-bit copies and 32-bit optimizer states, the recipe others");
  return flags;
}

// The decoder of a model whose other stacks make tokens for it.
std::optional<ModelSpec> language_part(const ModelSpec* spec) {
  if (spec == nullptr || spec->stacks.size() < 2) return std::nullopt;
  const auto towers = spec->stacks.end() - 1;
  if (!std::all_of(spec->stacks.begin(), towers, [](const StackSpec& s) { return s.to_tokens; }))
    return std::nullopt;
  ModelSpec own = *spec;
  own.stacks.erase(own.stacks.begin(), own.stacks.end() - 1);
  own.details.special.clear();  // about the towers, and named already
  if (!megatron_describes(own)) return std::nullopt;
  return own;
}

ModelFlagOptions options_of(const ExportFacts& f) {
  const Strategy& s = f.strategy();
  const bool ring = s.ring_ranks() > 1;
  return {f.release, ring, s.context, s.tensor, s.expert_tensor_degree(), f.plan().training.mtp};
}

std::string shape_loss(const ModelSpec* spec) {
  std::string out = "the model's shape: its own flags go into MODEL_ARGS";
  if (spec == nullptr) return out;
  if (language_part(spec)) out += ", those of its language part are in language_args.txt";
  if (spec->stacks.size() == 1 && !megatron_describes(*spec))
    out += ", because pretrain_gpt.py has no such blocks";
  const std::string parts = find_model_detail("special")->value(*spec);
  return parts.empty() ? out : fmt::format("{} ({})", out, parts);
}

}  // namespace

std::span<const ExportRule> megatron_rules() {
  return std::span(kRules).first(kRules.size() - 1);
}

std::span<const ExportRule> megatron_launch_rules() {
  return kRules;
}

std::vector<FlagSection> megatron_plan_arguments(const ExportFacts& facts, RankOrder order,
                                                 std::vector<std::string>& lost) {
  std::vector<FlagSection> groups;
  groups.push_back(training_flags(facts, lost));
  groups.push_back(parallelism_flags(facts, order));
  groups.push_back(state_flags(facts));
  groups.push_back(recompute_flags(facts, lost));
  groups.push_back(overlap_flags(facts, lost));
  return groups;
}

std::optional<FlagSection> megatron_model_arguments(const ExportFacts& facts,
                                                    std::vector<std::string>& lost) {
  if (!facts.decoder || facts.spec == nullptr || !megatron_describes(*facts.spec)) return std::nullopt;
  return megatron_model_flags(*facts.spec, options_of(facts), lost);
}

std::optional<FlagSection> megatron_language_arguments(const ExportFacts& facts,
                                                       std::vector<std::string>& lost) {
  const std::optional<ModelSpec> own = language_part(facts.spec);
  if (!own) return std::nullopt;
  std::vector<std::string> sentences;
  FlagSection flags = megatron_model_flags(*own, options_of(facts), sentences);
  for (const std::string& sentence : sentences) lost.push_back("of the language part: " + sentence);
  return flags;
}

std::vector<FlagSection> megatron_arguments(const ExportFacts& facts, RankOrder order,
                                            std::vector<std::string>& lost) {
  std::vector<FlagSection> groups;
  if (auto model = megatron_model_arguments(facts, lost)) {
    groups.push_back(std::move(*model));
  } else {
    lost.push_back(shape_loss(facts.spec));
  }
  for (FlagSection& section : megatron_plan_arguments(facts, order, lost))
    groups.push_back(std::move(section));
  return groups;
}

}  // namespace nest::frameworks
