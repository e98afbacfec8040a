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

}  // namespace

std::string value_of(const std::vector<Flag>& flags, std::string_view name) {
  const Flag* flag = find_flag(flags, name);
  return flag != nullptr && !flag->values.empty() ? flag->values.front() : "";
}

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
  if (find_flag(flags, "--use-rotary-position-embeddings") != nullptr)
    shape["--position-embedding-type"] = "rope";  // an older name of it
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
    if (!shape.contains("--moe-layer-freq")) shape.erase("--ffn-hidden-size");  // no block has it
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
    if (!megatron_describes(spec) || spec.stacks.front().stem.kind != StemSpec::Kind::tokens) continue;
    std::vector<std::string> lost;
    const FlagSection own = megatron_model_flags(spec, {}, lost);
    if (megatron_shape(own.flags) != wanted) continue;
    if (!vocab.empty() && value_of(own.flags, "--vocab-size") != vocab) continue;
    (std::to_string(spec.positions) == positions ? same : others).push_back(name);
  }
  same.insert(same.end(), others.begin(), others.end());
  return same;
}

}  // namespace nest::frameworks
