#include "nest/frameworks/megatron/megatron_shape.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

using ShapeFlags = std::map<std::string, std::string>;

// Flags that are there or not.
constexpr std::array kSwitches{"--swiglu",
                               "--quick-geglu",
                               "--disable-bias-linear",
                               "--untie-embeddings-and-output-weights",
                               "--qk-layernorm",
                               "--multi-latent-attention",
                               "--moe-router-enable-expert-bias"};
constexpr std::array kValues{"--num-layers",
                             "--hidden-size",
                             "--ffn-hidden-size",
                             "--num-attention-heads",
                             "--num-query-groups",
                             "--kv-channels",
                             "--normalization",
                             "--position-embedding-type",
                             "--num-experts",
                             "--moe-router-topk",
                             "--moe-ffn-hidden-size",
                             "--moe-layer-freq",
                             "--moe-shared-expert-intermediate-size",
                             "--q-lora-rank",
                             "--kv-lora-rank",
                             "--qk-head-dim",
                             "--qk-pos-emb-head-dim",
                             "--v-head-dim"};

std::int64_t whole(const ShapeFlags& shape, const std::string& name) {
  std::int64_t value = 0;
  const auto at = shape.find(name);
  if (at == shape.end()) return 0;
  const std::string& text = at->second;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void fill(ShapeFlags& shape, const std::string& name, std::int64_t value) {
  shape.try_emplace(name, std::to_string(value));
}

std::string value_of(const std::vector<Flag>& flags, std::string_view name) {
  const Flag* flag = find_flag(flags, name);
  return flag != nullptr && !flag->values.empty() ? flag->values.front() : "";
}

double real(const std::vector<Flag>& flags, std::string_view name, double fallback) {
  const std::string text = value_of(flags, name);
  double value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// What is no shape, with Megatron-LM's defaults.
void add_details(const std::vector<Flag>& flags, Value& config) {
  config.set("rms_norm_eps", real(flags, "--norm-epsilon", 1e-5));
  config.set("rope_theta", real(flags, "--rotary-base", 1e4));
  if (find_flag(flags, "--num-experts") != nullptr)
    config.set("router_aux_loss_coef", real(flags, "--moe-aux-loss-coeff", 0));
  if (find_flag(flags, "--use-rope-scaling") == nullptr) return;
  Value scaling = Value::object();
  scaling.set("rope_type", "llama3").set("factor", real(flags, "--rope-scaling-factor", 8));
  scaling.set("low_freq_factor", 1).set("high_freq_factor", 4).set("original_max_position_embeddings", 8192);
  config.set("rope_scaling", std::move(scaling));
}

bool mixes_blocks(const ShapeFlags& shape) {
  return shape.contains("--moe-layer-freq");
}

}  // namespace

ShapeFlags megatron_shape(const std::vector<Flag>& flags) {
  ShapeFlags shape;
  for (const char* name : kSwitches) {
    if (find_flag(flags, name) != nullptr) shape[name] = "on";
  }
  for (const char* name : kValues) {
    if (std::string value = value_of(flags, name); !value.empty()) shape[name] = std::move(value);
  }
  const bool bias = !shape.contains("--disable-bias-linear");
  if (bias || find_flag(flags, "--add-qkv-bias") != nullptr) shape["--add-qkv-bias"] = "on";
  shape.try_emplace("--normalization", "LayerNorm");
  shape.try_emplace("--position-embedding-type", "learned_absolute");
  const std::int64_t hidden = whole(shape, "--hidden-size");
  const std::int64_t heads = whole(shape, "--num-attention-heads");
  fill(shape, "--ffn-hidden-size", shape.contains("--swiglu") ? 4 * hidden * 2 / 3 / 64 * 64 : 4 * hidden);
  if (shape.contains("--multi-latent-attention")) {
    shape.erase("--num-query-groups");
    shape.erase("--kv-channels");
  } else {
    if (find_flag(flags, "--group-query-attention") == nullptr) shape.erase("--num-query-groups");
    fill(shape, "--num-query-groups", heads);
    fill(shape, "--kv-channels", heads > 0 ? hidden / heads : 0);
  }
  if (shape.contains("--num-experts")) {
    fill(shape, "--moe-router-topk", 2);
    fill(shape, "--moe-ffn-hidden-size", whole(shape, "--ffn-hidden-size"));
    if (shape["--moe-layer-freq"] == "1" || shape["--moe-layer-freq"].empty())
      shape.erase("--moe-layer-freq");
    if (!mixes_blocks(shape)) shape.erase("--ffn-hidden-size");  // no block has it
  }
  return shape;
}

std::vector<std::string> zoo_models_of(const std::vector<Flag>& flags) {
  const ShapeFlags wanted = megatron_shape(flags);
  const std::string vocab = value_of(flags, "--vocab-size");
  const std::string positions = value_of(flags, "--max-position-embeddings");
  std::vector<std::string> same;
  std::vector<std::string> others;
  for (const std::string& name : zoo_names()) {
    const ModelSpec spec = zoo_model(name);
    if (spec.stacks.size() != 1 || spec.stacks.front().stem.kind != StemSpec::Kind::tokens) continue;
    std::vector<std::string> lost;
    const FlagSection own = megatron_model_flags(spec, {}, lost);
    if (megatron_shape(own.flags) != wanted) continue;
    if (!vocab.empty() && value_of(own.flags, "--vocab-size") != vocab) continue;
    (std::to_string(spec.positions) == positions ? same : others).push_back(name);
  }
  same.insert(same.end(), others.begin(), others.end());
  return same;
}

Value config_of(const std::vector<Flag>& flags) {
  const ShapeFlags shape = megatron_shape(flags);
  const auto on = [&](const char* name) { return shape.contains(name); };
  const auto is = [&](const char* name, const char* value) { return shape.at(name) == value; };
  const std::string vocab = value_of(flags, "--vocab-size");
  if (on("--multi-latent-attention") || mixes_blocks(shape) || on("--moe-shared-expert-intermediate-size") ||
      vocab.empty() || whole(shape, "--num-layers") == 0 || whole(shape, "--hidden-size") == 0 ||
      whole(shape, "--num-attention-heads") == 0)
    return {};
  const std::string positions = value_of(flags, "--max-position-embeddings");
  const ShapeFlags more{{"v", vocab}, {"p", positions}};
  const bool tied = !on("--untie-embeddings-and-output-weights");
  Value config = Value::object();
  config.set("_name_or_path", "imported");
  const bool llama = is("--normalization", "RMSNorm") && is("--position-embedding-type", "rope") &&
                     on("--swiglu") && on("--disable-bias-linear");
  if (llama) {
    const bool experts = on("--num-experts");
    const bool bias = on("--add-qkv-bias");
    const bool norms = on("--qk-layernorm");
    if ((bias || norms) && (experts || (bias && norms))) return {};
    config.set("model_type", experts ? "mixtral" : bias ? "qwen2" : norms ? "qwen3" : "llama");
    config.set("num_hidden_layers", whole(shape, "--num-layers"))
        .set("hidden_size", whole(shape, "--hidden-size"));
    config.set("num_attention_heads", whole(shape, "--num-attention-heads"));
    config.set("num_key_value_heads", whole(shape, "--num-query-groups"));
    config.set("head_dim", whole(shape, "--kv-channels"));
    config.set("intermediate_size", whole(shape, experts ? "--moe-ffn-hidden-size" : "--ffn-hidden-size"));
    config.set("vocab_size", whole(more, "v")).set("tie_word_embeddings", tied);
    if (experts) {
      config.set("num_local_experts", whole(shape, "--num-experts"));
      config.set("num_experts_per_tok", whole(shape, "--moe-router-topk"));
    }
    if (whole(more, "p") > 0) config.set("max_position_embeddings", whole(more, "p"));
    add_details(flags, config);
    return config;
  }
  const bool gpt = is("--normalization", "LayerNorm") &&
                   is("--position-embedding-type", "learned_absolute") && !on("--swiglu") &&
                   !on("--disable-bias-linear") && !on("--num-experts") && !on("--qk-layernorm") &&
                   shape.at("--num-query-groups") == shape.at("--num-attention-heads");
  if (!gpt || whole(more, "p") == 0) return {};
  config.set("model_type", "gpt2").set("n_layer", whole(shape, "--num-layers"));
  config.set("n_embd", whole(shape, "--hidden-size")).set("n_head", whole(shape, "--num-attention-heads"));
  config.set("n_inner", whole(shape, "--ffn-hidden-size")).set("n_positions", whole(more, "p"));
  config.set("vocab_size", whole(more, "v")).set("tie_word_embeddings", tied);
  return config;
}

}  // namespace nest::frameworks
