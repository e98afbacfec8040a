#include "nest/model/hub/unread_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

// What a file may say without that another model would be trained: pieces of keys, and whole keys.
constexpr std::array<std::string_view, 37> kPieces{"token_id",
                                                   "token_index",
                                                   "dropout",
                                                   "initializer",
                                                   "_init",
                                                   "init_",
                                                   "pdrop",
                                                   "layerdrop",
                                                   "cache",
                                                   "output_",
                                                   "return_",
                                                   "summary_",
                                                   "label",
                                                   "forced_",
                                                   "_tp",
                                                   "version",
                                                   "_attn_impl",
                                                   "torch_dtype",
                                                   "auto_map",
                                                   "quantization",
                                                   "problem_",
                                                   "is_encoder",
                                                   "is_decoder",
                                                   "cross_attention",
                                                   "time_step_",
                                                   "logits_to_keep",
                                                   "_kernel",
                                                   "use_mamba",
                                                   "associative_scan",
                                                   "beam",
                                                   "finetuning",
                                                   "task_specific",
                                                   "chunk_size_feed_forward",
                                                   "checkpoint",
                                                   "router_jitter",
                                                   "softmax_in_fp32",
                                                   "soft_tokens_per_image"};
constexpr std::array<std::string_view, 29> kWhole{"model_type",
                                                  "architectures",
                                                  "_name_or_path",
                                                  "dtype",
                                                  "nest",
                                                  "layer_types",
                                                  "max_window_layers",
                                                  "_sliding_window_pattern",
                                                  "residual_in_fp32",
                                                  "ep_size",
                                                  "num_logits",
                                                  "head_dim",
                                                  "qk_head_dim",
                                                  "num_key_value_heads",
                                                  "mask_token_id",
                                                  "use_bfloat16",
                                                  "bos_token",
                                                  "eos_token",
                                                  "tokenizer_class",
                                                  "rope_interleave",
                                                  "add_bos_token",
                                                  "unk_index",
                                                  "mtp_loss_scaling_factor",
                                                  "use_flash_attn",
                                                  "scale_attn_weights",
                                                  "n_ctx",
                                                  "image_seq_length",
                                                  "moe_shared_expert_overlap",
                                                  "rescale_prenorm_residual"};

// Off, empty, or a factor of one.
bool turns_off(const Value& v) {
  if (v.is_null()) return true;
  if (const bool* flag = v.as_bool()) return !*flag;
  if (const std::int64_t* whole = v.as_int()) return *whole == 0;
  if (const double* real = v.as_real()) return *real == 0 || *real == 1;
  if (const std::string* text = v.as_string()) return text->empty();
  if (const auto* list = v.as_array()) return list->empty();
  const auto* members = v.as_object();
  return members != nullptr && members->empty();
}

std::string worded(std::string_view key, const Value& v) {
  constexpr std::size_t kLong = 24;
  std::string out = printable(std::string(key));
  const std::string value = v.as_object() != nullptr || v.as_array() != nullptr ? "" : to_json_line(v);
  if (!value.empty() && value.size() <= kLong) out += " " + printable(value);
  return out;
}

}  // namespace

bool is_harmless_key(std::string_view key) {
  return std::ranges::find(kWhole, key) != kWhole.end() ||
         std::ranges::any_of(kPieces, [&](std::string_view piece) { return key.find(piece) != key.npos; });
}

std::vector<std::string> unread_keys(const Reader& r, const std::vector<std::string>& mentioned) {
  constexpr std::size_t kMost = 40;  // such a file is something else
  std::vector<std::string> out;
  for (const auto& [key, value] : *r.value().as_object()) {
    if (r.knows(key) || is_harmless_key(key) || turns_off(value)) continue;
    if (std::ranges::find(mentioned, key) != mentioned.end()) continue;
    out.push_back(worded(key, value));
    if (out.size() == kMost) break;
  }
  return out;
}

}  // namespace nest::model
