#include "nest/frameworks/megatron/megatron_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "nest/frameworks/megatron/megatron_shape.hpp"

namespace nest::frameworks {
namespace {

double real(const std::vector<Flag>& flags, std::string_view name, double fallback) {
  const std::string text = value_of(flags, name);
  double value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Flags with which a model is none of the families that are known here.
struct Other {
  std::string_view flag;
  std::string_view what;
};
constexpr std::array kOthers{
    Other{"--hybrid-layer-pattern", "state-space layers are"},
    Other{"--hybrid-override-pattern", "state-space layers are"},
    Other{"--hybrid-attention-ratio", "state-space layers are"},
    Other{"--is-hybrid-model", "state-space layers are"},
    Other{"--experimental-attention-variant", "an experimental attention is"},
    Other{"--encoder-num-layers", "an encoder beside the decoder is"},
    Other{"--heterogeneous-layers-config-path", "layers of different sizes are"},
};

// Where the flags name a tokenizer and not its size. The first that fits is taken.
struct Vocabulary {
  std::string_view flag;
  std::string_view part;  // of its value
  std::int64_t tokens;
};
constexpr std::array kVocabularies{
    Vocabulary{"--tokenizer-model", "lama-3", 128256}, Vocabulary{"--tokenizer-model", "lama3", 128256},
    Vocabulary{"--tokenizer-model", "lama-4", 202048}, Vocabulary{"--tokenizer-model", "wen", 151936},
    Vocabulary{"--tokenizer-model", "eep", 129280},    Vocabulary{"--tokenizer-model", "gpt-oss", 201088},
    Vocabulary{"--tokenizer-type", "Llama2", 32000},   Vocabulary{"--tokenizer-type", "Sentence", 32000},
    Vocabulary{"--tokenizer-type", "Llama3", 128256},  Vocabulary{"--tokenizer-type", "TikTokenizer", 131072},
    Vocabulary{"--tokenizer-type", "BertWord", 30522},
};
constexpr std::int64_t kUsualVocabulary = 50257;  // of GPT-2, whose files Megatron-LM's examples name

class ConfigOf {
 public:
  explicit ConfigOf(const std::vector<Flag>& flags) : flags_(flags), shape_(megatron_shape(flags)) {}

  MegatronConfig run() {
    if (!possible()) return std::move(out_);
    Value config = Value::object();
    config.set("_name_or_path", "imported");
    if (on("--multi-latent-attention")) {
      latent(config);
    } else if (is_gpt()) {
      gpt(config);
    } else {
      llama(config);
    }
    out_.config = std::move(config);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool on(const std::string& name) const { return shape_.contains(name); }
  [[nodiscard]] bool is(const std::string& name, const char* value) const {
    const auto at = shape_.find(name);
    return at != shape_.end() && at->second == value;
  }
  [[nodiscard]] std::int64_t whole(const std::string& name) const {
    const auto at = shape_.find(name);
    return at == shape_.end() ? 0 : number(at->second);
  }
  [[nodiscard]] static std::int64_t number(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  void assume(std::string sentence) { out_.assumed.push_back(std::move(sentence)); }
  [[nodiscard]] bool gated() const { return on("--swiglu") || on("--quick-geglu"); }

  bool possible() {
    out_.reason = unknown_family(flags_);
    if (!out_.reason.empty()) return false;
    for (const char* name : {"--num-layers", "--hidden-size", "--num-attention-heads"}) {
      if (whole(name) > 0) continue;
      out_.reason = fmt::format("the flags describe no model: {} is missing", name);
      return false;
    }
    if (on("--num-experts") && on("--moe-layer-freq")) {
      experts_ = expert_layers(shape_.at("--moe-layer-freq"), whole("--num-layers"));
      if (experts_.empty()) {
        out_.reason = fmt::format("--moe-layer-freq: '{}' is not understood", shape_.at("--moe-layer-freq"));
        return false;
      }
    }
    return true;
  }

  std::int64_t vocabulary() {
    if (const std::int64_t stated = number(value_of(flags_, "--vocab-size")); stated > 0) return stated;
    std::int64_t tokens = kUsualVocabulary;
    for (const Vocabulary& v : kVocabularies) {
      if (value_of(flags_, v.flag).find(v.part) == std::string::npos) continue;
      tokens = v.tokens;
      break;
    }
    assume(
        fmt::format("--vocab-size is missing, because the tokenizer says it: {} tokens are assumed", tokens));
    return tokens;
  }

  // Two matrices of width w have the parameters and the work of three of width 2 w / 3.
  std::int64_t width(const std::string& name) {
    const std::int64_t stated = whole(name);
    if (gated()) return stated;
    if (!widths_told_)
      assume("feed-forward networks without a gate are priced as gated ones of two thirds of their width");
    widths_told_ = true;
    // So that the degrees which divide the one divide the other.
    const std::int64_t unit = std::gcd(stated, std::int64_t{64});
    return std::max<std::int64_t>(
        unit, std::llround(static_cast<double>(stated) * 2 / 3 / static_cast<double>(unit)) * unit);
  }

  void common(Value& config) {
    config.set("num_hidden_layers", whole("--num-layers")).set("hidden_size", whole("--hidden-size"));
    config.set("num_attention_heads", whole("--num-attention-heads"));
    config.set("vocab_size", vocabulary());
    config.set("tie_word_embeddings", !on("--untie-embeddings-and-output-weights"));
    if (const std::int64_t positions = number(value_of(flags_, "--max-position-embeddings")); positions > 0)
      config.set("max_position_embeddings", positions);
    config.set("rms_norm_eps", real(flags_, "--norm-epsilon", 1e-5));
    config.set("rope_theta", real(flags_, "--rotary-base", 1e4));
    if (on("--num-experts")) config.set("router_aux_loss_coef", real(flags_, "--moe-aux-loss-coeff", 0));
    if (find_flag(flags_, "--use-rope-scaling") == nullptr) return;
    Value scaling = Value::object();
    scaling.set("rope_type", "llama3").set("factor", real(flags_, "--rope-scaling-factor", 8));
    scaling.set("low_freq_factor", 1).set("high_freq_factor", 4);
    scaling.set("original_max_position_embeddings", 8192);
    config.set("rope_scaling", std::move(scaling));
  }

  // What the families below do not have.
  void left_out(bool biases, bool head_norms) {
    if (is("--normalization", "LayerNorm")) assume("norms are RMSNorm in place of LayerNorm");
    if (biases) assume("biases are left out");
    if (head_norms) assume("the norms of queries and keys are left out");
    if (is("--position-embedding-type", "learned_absolute")) assume("learned positions are left out");
  }

  void latent(Value& config) {
    config.set("model_type", "deepseek_v3");
    common(config);
    const bool experts = on("--num-experts");
    const std::int64_t layers = whole("--num-layers");
    const std::int64_t ffn = width("--ffn-hidden-size");
    config.set("intermediate_size", ffn > 0 ? ffn : width("--moe-ffn-hidden-size"));
    if (const std::int64_t rank = whole("--q-lora-rank"); rank > 0) {
      config.set("q_lora_rank", rank);
    } else {
      config.set("q_lora_rank", Value());
    }
    const auto or_else = [&](const char* name, std::int64_t usual) {
      const std::int64_t stated = whole(name);
      return stated > 0 ? stated : usual;
    };
    config.set("kv_lora_rank", or_else("--kv-lora-rank", 32)).set("v_head_dim", or_else("--v-head-dim", 128));
    config.set("qk_nope_head_dim", or_else("--qk-head-dim", 128));
    config.set("qk_rope_head_dim", or_else("--qk-pos-emb-head-dim", 64));
    std::int64_t leading = layers;
    if (experts) {
      const std::int64_t own = width("--moe-ffn-hidden-size");
      config.set("n_routed_experts", whole("--num-experts")).set("moe_intermediate_size", own);
      config.set("num_experts_per_tok", whole("--moe-router-topk"));
      const std::int64_t shared = whole("--moe-shared-expert-intermediate-size");
      config.set("n_shared_experts", own > 0 ? (shared + own - 1) / own : 0);
      const auto first = std::find(experts_.begin(), experts_.end(), true);
      leading = first - experts_.begin();
      if (std::find(first, experts_.end(), false) != experts_.end())
        assume("all layers after the first with experts have some");
    }
    config.set("first_k_dense_replace", leading);
    left_out(on("--add-qkv-bias"), false);
  }

  [[nodiscard]] bool is_gpt() const {
    return is("--normalization", "LayerNorm") && !gated() && !on("--num-experts") && !on("--qk-layernorm") &&
           shape_.at("--num-query-groups") == shape_.at("--num-attention-heads") &&
           whole("--kv-channels") * whole("--num-attention-heads") == whole("--hidden-size");
  }

  void gpt(Value& config) {
    if (is("--position-embedding-type", "rope")) {
      config.set("model_type", "gpt_neox").set("use_parallel_residual", false);
      config.set("intermediate_size", whole("--ffn-hidden-size"));
      config.set("attention_bias", on("--add-qkv-bias"));
      common(config);
    } else {
      config.set("model_type", "gpt2").set("n_layer", whole("--num-layers"));
      config.set("n_embd", whole("--hidden-size")).set("n_head", whole("--num-attention-heads"));
      config.set("n_inner", whole("--ffn-hidden-size"));
      std::int64_t positions = number(value_of(flags_, "--max-position-embeddings"));
      if (positions == 0) positions = std::max<std::int64_t>(1, number(value_of(flags_, "--seq-length")));
      config.set("n_positions", positions).set("vocab_size", vocabulary());
      config.set("tie_word_embeddings", !on("--untie-embeddings-and-output-weights"));
    }
    if (on("--disable-bias-linear")) assume("linear layers have biases here");
  }

  void llama(Value& config) {
    const bool experts = on("--num-experts");
    const bool shared = on("--moe-shared-expert-intermediate-size");
    const bool bias = on("--add-qkv-bias");
    const bool norms = on("--qk-layernorm");
    const std::string_view type = !experts                     ? (norms  ? "qwen3"
                                                                  : bias ? "qwen2"
                                                                         : "llama")
                                  : shared                     ? "qwen2_moe"
                                  : norms || !experts_.empty() ? "qwen3_moe"
                                                               : "mixtral";
    const bool has_norms = type == "qwen3" || type == "qwen3_moe";
    config.set("model_type", type);
    common(config);
    config.set("num_key_value_heads", whole("--num-query-groups"));
    config.set("head_dim", whole("--kv-channels"));
    if (whole("--ffn-hidden-size") > 0) config.set("intermediate_size", width("--ffn-hidden-size"));
    if (experts) {
      const std::int64_t own = width("--moe-ffn-hidden-size");
      config.set(type == "mixtral" ? "num_local_experts" : "num_experts", whole("--num-experts"));
      config.set(type == "mixtral" ? "intermediate_size" : "moe_intermediate_size", own);
      config.set("num_experts_per_tok", whole("--moe-router-topk"));
    }
    if (shared) {
      config.set("shared_expert_intermediate_size", width("--moe-shared-expert-intermediate-size"));
      config.set("qkv_bias", bias);
      if (find_flag(flags_, "--moe-shared-expert-gate") == nullptr) assume("shared experts have a gate here");
    }
    Value dense = Value::array();
    for (std::size_t i = 0; i < experts_.size(); ++i) {
      if (!experts_[i]) dense.push(static_cast<std::int64_t>(i));
    }
    if (!experts_.empty()) config.set("mlp_only_layers", std::move(dense));
    if (has_norms && !norms) assume("queries and keys have norms here");
    const bool keeps_bias = type == "qwen2" || type == "qwen2_moe";
    left_out((bias && !keeps_bias) || !on("--disable-bias-linear"), norms && !has_norms);
  }

  const std::vector<Flag>& flags_;
  std::map<std::string, std::string> shape_;
  std::vector<bool> experts_;  // by layer; empty: all, or none
  bool widths_told_ = false;
  MegatronConfig out_;
};

}  // namespace

std::vector<bool> expert_layers(const std::string& frequency, std::int64_t layers) {
  std::vector<bool> out;
  std::int64_t every = 0;
  const char* const end = frequency.data() + frequency.size();
  if (const auto read = std::from_chars(frequency.data(), end, every);
      read.ec == std::errc() && read.ptr == end && every > 0) {
    for (std::int64_t i = 0; i < layers; ++i) out.push_back(i % every == 0);
    return out;
  }
  // Lists of zeros and ones, each perhaps repeated, one after the other.
  for (std::size_t at = 0; at < frequency.size();) {
    const std::size_t open = frequency.find('[', at);
    const std::size_t close = frequency.find(']', at);
    if (open == std::string::npos || close == std::string::npos || close < open) break;
    std::vector<bool> part;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (frequency[i] == '0' || frequency[i] == '1') part.push_back(frequency[i] == '1');
    }
    std::int64_t times = 1;
    at = close + 1;
    if (at < frequency.size() && frequency[at] == '*')
      at = static_cast<std::size_t>(std::from_chars(frequency.data() + at + 1, end, times).ptr -
                                    frequency.data());
    if (times < 1 || part.empty() || times * static_cast<std::int64_t>(part.size()) > layers) return {};
    for (std::int64_t t = 0; t < times; ++t) out.insert(out.end(), part.begin(), part.end());
  }
  return static_cast<std::int64_t>(out.size()) == layers ? out : std::vector<bool>{};
}

std::string unknown_family(const std::vector<Flag>& flags) {
  for (const Other& other : kOthers) {
    if (find_flag(flags, other.flag) != nullptr)
      return fmt::format("{} not known here ({})", other.what, other.flag);
  }
  return "";
}

MegatronConfig config_of(const std::vector<Flag>& flags) {
  return ConfigOf(flags).run();
}

}  // namespace nest::frameworks
