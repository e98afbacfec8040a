#include "nest/validate/runs/run_flops.hpp"

#include <algorithm>

#include "nest/cluster/accelerator.hpp"

namespace nest::validate {
namespace {

constexpr double kPasses = 3;  // forward, and two of backward
constexpr double kTera = 1e12;
constexpr double kMostShare = 1.5;  // an MFU above this is a percentage

// Scores and their product with the values, for one token of a sequence, one pass.
double attention_flops(const AttentionSpec& a, double sequence, bool causal) {
  const double seen = a.window > 0 ? std::min(sequence, static_cast<double>(a.window)) : sequence;
  const double score = static_cast<double>(a.head_dim);
  const double value = static_cast<double>(a.latent ? a.latent->value_dim : a.head_dim);
  // A window is full for nearly every token; halving it would be wrong.
  const bool halved =
      causal && a.causal && (a.window == 0 || a.chunked || static_cast<double>(a.window) >= sequence);
  return 2 * static_cast<double>(a.heads) * (score + value) * seen * (halved ? 0.5 : 1);
}

std::int64_t attention_parameters(const AttentionSpec& a, std::int64_t hidden) {
  if (!a.latent) return hidden * a.head_dim * (2 * a.heads + 2 * a.kv_heads);
  const LatentAttention& l = *a.latent;
  const std::int64_t query = a.heads * (l.nope_dim + l.rope_dim);
  const std::int64_t queries = l.query_rank > 0 ? l.query_rank * (hidden + query) : hidden * query;
  return queries + hidden * (l.key_value_rank + l.rope_dim) +
         l.key_value_rank * a.heads * (l.nope_dim + l.value_dim) + a.heads * l.value_dim * hidden;
}

std::optional<FlopsPerSecond> peak_of(const RunRow& row) {
  for (const Accelerator& a : accelerators()) {
    if (a.name != row.accelerator) continue;
    if (row.precision_class == "fp8") return a.peak(MathType::fp8);
    const auto bf16 = a.peak(MathType::bf16);
    return bf16 ? bf16 : a.peak(MathType::fp16);
  }
  return std::nullopt;
}

bool is_rate(const std::string& metric) {
  return metric != "iteration_s";
}

}  // namespace

FlopCount flop_count(const RunRow& row) {
  const std::string& words = row.flops_definition;
  const bool without = mentions(words, "no recompute") || mentions(words, "without recompute");
  if (mentions(words, "SC21") || mentions(words, "remat") || (!without && mentions(words, "recompute"))) {
    return FlopCount::hardware;
  }
  if (mentions(words, "MFU") || mentions(words, "MaxText") || mentions(words, "non-causal")) {
    return FlopCount::model_full;
  }
  if (mentions(words, "causal") || mentions(words, "Megatron")) return FlopCount::model_causal;
  if (row.framework == "megatron-deepspeed" || row.framework == "alpa") return FlopCount::hardware;
  const bool megatron = row.framework == "megatron" || row.framework == "nemo-megatron";
  return megatron ? FlopCount::model_causal : FlopCount::model_full;
}

std::int64_t block_matmul_parameters(const BlockSpec& block, std::int64_t hidden) {
  const bool gated = block.ffn.activation == Activation::swiglu || block.ffn.activation == Activation::geglu;
  const std::int64_t matrices = gated ? 3 : 2;
  const std::int64_t attention = attention_parameters(block.attention, hidden);
  if (!block.experts) return attention + matrices * hidden * block.ffn.ffn;
  const ExpertsSpec& e = *block.experts;
  return attention + matrices * hidden * (e.top_k * e.ffn + e.shared_ffn) + hidden * e.experts;
}

Flops step_flops(const ModelSpec& spec, const RunRow& row, FlopCount count) {
  const auto sequence = static_cast<double>(row.sequence.value_or(0));
  const double tokens = static_cast<double>(row.global_batch.value_or(0)) * sequence;
  const StackSpec& stack = spec.stacks.back();
  double blocks = 0;
  for (const BlockSpec& block : stack.blocks) {
    blocks += 2 * static_cast<double>(block_matmul_parameters(block, stack.hidden)) +
              attention_flops(block.attention, sequence, count == FlopCount::model_causal);
  }
  const double head = 2 * static_cast<double>(stack.hidden) * static_cast<double>(spec.head.outputs);
  const bool again = count == FlopCount::hardware && row.recompute_policy == "full";
  return Flops{tokens * ((again ? kPasses + 1 : kPasses) * blocks + kPasses * head)};
}

MeasuredStep measured_step(const RunRow& row, const ModelSpec& spec) {
  if (!row.measured) return {std::nullopt, "no measured value"};
  if (row.metric == "iteration_s") return {Seconds{*row.measured}, ""};
  const auto devices = static_cast<double>(row.devices.value_or(1));
  const double tokens =
      static_cast<double>(row.global_batch.value_or(0)) * static_cast<double>(row.sequence.value_or(0));
  if (row.metric == "samples_per_s")
    return {Seconds{static_cast<double>(row.global_batch.value_or(0)) / *row.measured}, ""};
  if (row.metric == "tokens_per_s_per_gpu") return {Seconds{tokens / (devices * *row.measured)}, ""};
  if (row.metric == "tflops_per_gpu") {
    const double flops = step_flops(spec, row, flop_count(row)).value;
    return {Seconds{flops / (devices * *row.measured * kTera)}, ""};
  }
  if (row.metric == "mfu") {
    const auto peak = peak_of(row);
    if (!peak) return {std::nullopt, "no peak is known for " + row.accelerator};
    const double share = *row.measured > kMostShare ? *row.measured / 100 : *row.measured;
    const double flops = step_flops(spec, row, flop_count(row)).value;
    return {Seconds{flops / (devices * peak->value * share)}, ""};
  }
  return {std::nullopt, "the metric '" + row.metric + "' is not known"};
}

double in_metric_of(const RunRow& row, Seconds measured, Seconds step) {
  if (!is_rate(row.metric)) return step.value;
  return row.measured.value_or(0) * measured.value / step.value;
}

}  // namespace nest::validate
