// Layers and training steps of a measured profile, and the same layers built from the model room: for tests
// that judge estimates by measurements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/estimate/kernels/measured.hpp"
#include "nest/model/blocks/blocks.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::test {
using namespace estimate;

struct TestModel {
  std::string name;
  std::string family;
  std::int64_t hidden, heads, kv_heads, head_dim, ffn, layers, vocab;
  bool qkv_bias = false;
};

// As tools/profile/models.py has them.
inline const TestModel& test_model(const std::string& name) {
  static const std::vector<TestModel> kModels{
      {"llama-7b", "llama", 4096, 32, 32, 128, 11008, 32, 32000},
      {"llama3-8b", "llama", 4096, 32, 8, 128, 14336, 32, 128256},
      {"llama3-70b", "llama", 8192, 64, 8, 128, 28672, 80, 128256},
      {"llama3.1-405b", "llama", 16384, 128, 8, 128, 53248, 126, 128256},
      {"llama3.2-1b", "llama", 2048, 32, 8, 64, 8192, 16, 128256},
      {"llama3.2-3b", "llama", 3072, 24, 8, 128, 8192, 28, 128256},
      {"tinyllama-1.1b", "llama", 2048, 32, 4, 64, 5632, 22, 32000},
      {"qwen2.5-1.5b", "llama", 1536, 12, 2, 128, 8960, 28, 151936, true},
      {"gpt3-1.3b", "gpt", 2048, 16, 16, 128, 8192, 24, 50257},
      {"gpt3-2.7b", "gpt", 2560, 32, 32, 80, 10240, 32, 50257},
      {"gpt3-13b", "gpt", 5120, 40, 40, 128, 20480, 40, 50257},
      {"gpt3-175b", "gpt", 12288, 96, 96, 128, 49152, 96, 50257},
      {"bert-large", "bert", 1024, 16, 16, 64, 4096, 24, 30522}};
  for (const TestModel& m : kModels) {
    if (m.name == name) return m;
  }
  throw std::runtime_error("no test model " + name);
}

// One rank's shard of a tensor slice t: heads / t, key-value heads / t but at least one, ffn / t.
inline LayerType shard_block(const TestModel& m, std::int64_t t, std::int64_t batch, std::int64_t sequence,
                             bool fused = true) {
  const bool llama = m.family == "llama";
  BlockSpec spec;
  spec.norm = llama ? NormKind::rms : NormKind::layer;
  spec.layout = m.family == "bert" ? NormLayout::post : NormLayout::pre;
  spec.attention.heads = m.heads / t;
  spec.attention.kv_heads = std::max<std::int64_t>(1, m.kv_heads / t);
  spec.attention.head_dim = m.head_dim;
  const bool bias = !llama || m.qkv_bias;
  spec.attention.query_bias = spec.attention.key_bias = spec.attention.value_bias = bias;
  spec.attention.output_bias = !llama;
  spec.attention.rotary = llama;
  spec.attention.causal = m.family != "bert";
  spec.ffn = {m.ffn / t, llama ? Activation::swiglu : Activation::gelu, !llama, !llama};
  LayerBuilder b("block", {.fused = fused});
  const TensorIndex x =
      b.input("hidden", {{Axis::batch, batch}, {Axis::sequence, sequence}, {Axis::hidden, m.hidden}});
  const TensorIndex y = add_block(b, x, spec);
  return b.finish({y});
}

struct MeasuredLayer {
  std::string model, mode, qkv;
  std::int64_t t, micro_batch, sequence;
  double forward_s, backward_s, issue_s;
  std::int64_t stash_bytes;
};

inline std::vector<MeasuredLayer> measured_layers(const std::string& accelerator) {
  const EmbeddedFile* file = find_embedded(profile_files(), accelerator);
  const Document document = parse_json(accelerator, std::string(file->text));
  std::vector<MeasuredLayer> out;
  Reader root(document);
  for (Reader& r : root.objects("layers")) {
    out.push_back({r.text("model"), r.text("mode"), r.text("qkv"), r.whole("t"), r.whole("micro_batch"),
                   r.whole("sequence"), r.number("forward_s"), r.number("backward_s"), r.number("issue_s"),
                   r.whole("stash_bytes")});
  }
  return out;
}

struct MeasuredStep {
  std::string model, variant, recompute;
  std::int64_t micro_batch, sequence, micro_batches, vocab, parameters;
  bool tied;
  double step_s, optimizer_s;
};

inline std::vector<MeasuredStep> measured_steps(const std::string& accelerator) {
  const EmbeddedFile* file = find_embedded(profile_files(), accelerator);
  const Document document = parse_json(accelerator, std::string(file->text));
  std::vector<MeasuredStep> out;
  Reader root(document);
  for (Reader& r : root.objects("steps")) {
    out.push_back({r.text("model"), r.text("variant"), r.text("recompute"), r.whole("micro_batch"),
                   r.whole("sequence"), r.whole("micro_batches"), r.whole("vocab"), r.whole("parameters"),
                   r.boolean_or("tied", false), r.number("step_s"), r.number("optimizer_s")});
  }
  return out;
}

// What tools/profile/steps.py runs: embedding, layers, final norm, head, loss, and the update of the variant.
// `layer_time(block, fused_qkv)` gives the time of one block.
template <class LayerTimeOf>
double step_seconds(const KernelTimes& times, const MeasuredStep& step, LayerTimeOf layer_time) {
  using enum KernelKind;
  const TestModel& m = test_model(step.model);
  const std::int64_t tokens = step.micro_batch * step.sequence;
  const auto seconds = [&](const KernelCall& call) { return times.seconds(call).time.value; };
  const bool llama = m.family == "llama";
  const auto block = layer_time(shard_block(m, 1, step.micro_batch, step.sequence), !llama);
  const double forward = block.forward().value;
  double layer = forward + block.backward().value;
  if (step.recompute == "full") layer += forward;
  double ends = seconds({embedding_forward, {step.vocab, m.hidden, tokens}}) +
                seconds({embedding_backward, {step.vocab, m.hidden, tokens}});
  for (const KernelKind kind : {matmul_forward, matmul_input, matmul_weight})
    ends += seconds({kind, {tokens, step.vocab, m.hidden}});
  for (const KernelKind kind : {loss_forward, loss_backward}) ends += seconds({kind, {tokens, step.vocab}});
  ends += seconds({llama ? rms_norm_forward : layer_norm_forward, {tokens, m.hidden}}) +
          seconds({llama ? rms_norm_backward : layer_norm_backward, {tokens, m.hidden}});
  if (!llama) ends += seconds({add, {tokens, m.hidden}});
  if (step.tied) ends += seconds({add, {step.vocab, m.hidden}});
  double update = 0;
  if (step.variant == "master") {
    ends += seconds({accumulate, {step.parameters}});
    update = seconds({adam_fused_fp32, {step.parameters}}) + seconds({cast_down, {step.parameters}}) +
             seconds({fill, {2 * step.parameters}});
  } else {
    update = seconds({adam_fused_bf16, {step.parameters}});
  }
  return static_cast<double>(step.micro_batches) * (static_cast<double>(m.layers) * layer + ends) + update;
}

}  // namespace nest::test
