#include "nest/model/hub/hub_details.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

namespace nest::model {
namespace {

struct Row {
  std::string_view type;
  DetailDefaults defaults;
};

constexpr std::array kDefaults{
    Row{"llama", {1e-6, 1e4}},
    Row{"mistral", {1e-6, 1e4}},
    Row{"mixtral", {1e-5, 1e6, 1, 0.001}},
    Row{"qwen2", {1e-6, 1e4}},
    Row{"qwen3", {1e-6, 1e4}},
    Row{"qwen2_moe", {1e-6, 1e4, 1, 0.001, false}},
    Row{"qwen3_moe", {1e-6, 1e4, 1, 0.001, false}},
    Row{"gemma", {1e-6, 1e4}},
    Row{"gemma2", {1e-6, 1e4}},
    Row{"phi3", {1e-5, 1e4}},
    Row{"phi", {1e-5, 1e4, 0.5}},
    Row{"gpt_neox", {1e-5, 1e4, 0.25}},
    Row{"gpt2", {1e-5, 0}},
    Row{"opt", {1e-5, 0}},
    Row{"deepseek_v2", {1e-6, 1e4, 1, 0, false}},
    Row{"deepseek_v3", {1e-6, 1e4, 1, 0, true, 8, 4, 2.5, true, true}},
};

std::optional<double> number_of(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const double* real = value->as_real()) return *real;
  if (const std::int64_t* whole = value->as_int()) return static_cast<double>(*whole);
  return std::nullopt;
}

// The first of these keys that is a number. All of them count as known.
double number(Reader& r, std::initializer_list<const char*> keys, double fallback) {
  std::optional<double> found;
  for (const char* key : keys) {
    if (r.has(key) && !found) found = number_of(r.value().find(key));
  }
  return found.value_or(fallback);
}

bool flag(Reader& r, const char* key, bool fallback) {
  const bool* value = r.has(key) ? r.value().find(key)->as_bool() : nullptr;
  return value != nullptr ? *value : fallback;
}

std::int64_t count(Reader& r, const char* key, std::int64_t fallback) {
  const std::int64_t* value = r.has(key) ? r.value().find(key)->as_int() : nullptr;
  return value != nullptr ? std::max<std::int64_t>(0, *value) : fallback;
}

RotaryScaling read_scaling(const Value& v) {
  const auto get = [&](const char* key, double fallback) {
    return number_of(v.find(key)).value_or(fallback);
  };
  const Value* kind = v.find("rope_type") != nullptr ? v.find("rope_type") : v.find("type");
  const std::string* name = kind != nullptr ? kind->as_string() : nullptr;
  RotaryScaling s;
  if (name != nullptr && *name == "llama3") s.kind = RotaryScaling::Kind::llama3;
  if (name != nullptr && *name == "yarn") s.kind = RotaryScaling::Kind::yarn;
  if (name != nullptr && *name == "linear") s.kind = RotaryScaling::Kind::linear;
  s.factor = get("factor", s.factor);
  s.original_positions = get("original_max_position_embeddings", s.original_positions);
  s.low_frequency = get("low_freq_factor", s.low_frequency);
  s.high_frequency = get("high_freq_factor", s.high_frequency);
  s.beta_fast = get("beta_fast", s.beta_fast);
  s.beta_slow = get("beta_slow", s.beta_slow);
  s.mscale = get("mscale", s.mscale);
  s.mscale_all = get("mscale_all_dim", s.mscale_all);
  if (const Value* whole = v.find("truncate"); whole != nullptr && whole->as_bool() != nullptr)
    s.whole_range = *whole->as_bool();
  return s;
}

// A rope_type of "default" stretches nothing.
bool stretches(const Value& v) {
  for (const char* key : {"rope_type", "type"}) {
    const Value* kind = v.find(key);
    if (kind != nullptr && kind->as_string() != nullptr) return *kind->as_string() != "default";
  }
  return false;
}

void read_rotary_group(const Value& v, ModelDetails& out) {
  if (stretches(v)) out.scaling = read_scaling(v);
  out.rotary_base = number_of(v.find("rope_theta")).value_or(out.rotary_base);
  out.rotary_share = number_of(v.find("partial_rotary_factor")).value_or(out.rotary_share);
}

void read_rotary(Reader& r, const DetailDefaults& d, ModelDetails& out) {
  out.rotary_base = number(r, {"rope_theta", "rotary_emb_base"}, d.rotary_base);
  out.rotary_share = number(r, {"partial_rotary_factor", "rotary_pct"}, d.rotary_share);
  if (const double local = number(r, {"rope_local_base_freq", "local_rope_theta"}, 0); local > 0)
    out.numbers["local_rotary_base"] = local;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Value* v = r.has(key) ? r.value().find(key) : nullptr;
    if (v == nullptr || v->as_object() == nullptr) continue;
    const Value* full = v->find("full_attention");
    const Value* local = v->find("sliding_attention");
    // A group for each kind of layer, or one for all.
    read_rotary_group(full != nullptr && full->as_object() != nullptr ? *full : *v, out);
    if (local == nullptr || local->as_object() == nullptr) continue;
    if (const auto base = number_of(local->find("rope_theta"))) out.numbers["local_rotary_base"] = *base;
  }
}

// What the classes of types with a reader of their own say besides.
void read_numbers(Reader& r, std::string_view type, ModelDetails& out) {
  if (type != "gemma" && type != "gemma2") return;
  out.numbers["embedding_scale"] = std::sqrt(number(r, {"hidden_size"}, type == "gemma" ? 3072 : 2304));
  if (type != "gemma2") return;
  // A key that is null turns the cap off.
  const auto cap = [&](const char* key, double usual) {
    return r.value().find(key) == nullptr ? usual : number(r, {key}, 0);
  };
  out.numbers["attention_cap"] = cap("attn_logit_softcapping", 50);
  out.numbers["logit_cap"] = cap("final_logit_softcapping", 30);
  out.numbers["attention_scale"] = 1 / std::sqrt(number(r, {"query_pre_attn_scalar"}, 256));
}

// "sigmoid" or "softmax", where the file says it.
void read_scores(Reader& r, RouterDetails& router) {
  for (const char* key : {"scoring_func", "moe_router_activation_func"}) {
    const Value* v = r.has(key) ? r.value().find(key) : nullptr;
    if (v == nullptr || v->as_string() == nullptr) continue;
    router.sigmoid = *v->as_string() == "sigmoid";
  }
  const Value* method = r.has("topk_method") ? r.value().find("topk_method") : nullptr;
  if (method == nullptr || method->as_string() == nullptr) return;
  if (*method->as_string() == "greedy") router.groups = router.group_top_k = 0;
  router.balance_bias = *method->as_string() == "noaux_tc";
}

}  // namespace

ModelDetails read_details(Reader& r, const DetailDefaults& d) {
  ModelDetails out;
  out.norm_epsilon =
      number(r, {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon"},
             d.norm_epsilon);
  if (d.rotary_base > 0) read_rotary(r, d, out);
  out.router.groups = count(r, "n_group", d.groups);
  out.router.group_top_k = count(r, "topk_group", d.group_top_k);
  out.router.scale = number(
      r, {"routed_scaling_factor", "moe_routed_scaling_factor", "router_scaling_factor", "route_scale"},
      d.scale);
  out.router.normalized = flag(r, "norm_topk_prob", d.normalized);
  out.router.balance_loss =
      number(r, {"router_aux_loss_coef", "aux_loss_alpha", "aux_loss_coef"}, d.balance_loss);
  out.router.balance_by_sequence = flag(r, "seq_aux", false);
  out.router.sigmoid = d.sigmoid;
  out.router.balance_bias = d.balance_bias;
  read_scores(r, out.router);
  return out;
}

ModelDetails read_details(Reader& r, std::string_view type) {
  const auto at =
      std::find_if(kDefaults.begin(), kDefaults.end(), [&](const Row& row) { return row.type == type; });
  if (at == kDefaults.end()) return ModelDetails{};
  ModelDetails out = read_details(r, at->defaults);
  read_numbers(r, type, out);
  return out;
}

}  // namespace nest::model
