// Changes of a model that no size shows, one for each detail: an export that is the same before and after one of them
// has dropped it without a word.
//
//   for (const test::DetailChange& change : test::detail_changes()) change.make(spec)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::test {
using namespace frameworks;

struct DetailChange {
  std::string name;
  std::function<bool(ModelSpec&)> make;  // false: this model cannot have it, and is left as it is
};

inline bool for_attention(ModelSpec& spec, const std::function<void(AttentionSpec&)>& change) {
  for (BlockSpec& block : spec.stacks.back().blocks) {
    if (attends(block)) change(block.attention);
  }
  return true;
}

inline bool for_experts(ModelSpec& spec, const std::function<void(ExpertsSpec&, RouterDetails&)>& change) {
  bool any = false;
  for (BlockSpec& block : spec.stacks.back().blocks) {
    if (block.experts) change(*block.experts, spec.details.router);
    any = any || block.experts;
  }
  return any;
}

inline bool turns(const ModelSpec& spec) {
  return !find_model_detail("rotary_base")->value(spec).empty();
}

// What belongs to another detail: nothing is said of it alone.
inline bool can_state(const ModelSpec& spec, std::string_view name) {
  const auto has = [&](const char* key) { return !find_model_detail(key)->value(spec).empty(); };
  if (name == "local_rotary_base") return turns(spec);
  if (name == "temperature_floor") return has("temperature");
  if (name == "weights_on_input") return experts_of(decoder_of(spec)) != nullptr;
  if (name == "squared_relu") return false;  // a kind of activation
  if (name.starts_with("activation_")) return !states(spec.details, "squared_relu");
  if (name == "attention_scale") return attending_block(decoder_of(spec)) != nullptr;
  return !name.starts_with("delta_");
}

inline std::vector<DetailChange> detail_changes() {
  std::vector<DetailChange> all{
      {"norm_epsilon", [](ModelSpec& s) { return (s.details.norm_epsilon += 0.5) > 0; }},
      {"rotary_base", [](ModelSpec& s) { return turns(s) && (s.details.rotary_base += 1000) > 0; }},
      {"rotary_share",
       [](ModelSpec& s) {
         const bool can = turns(s) && !attending_block(decoder_of(s))->attention.latent;
         if (can) s.details.rotary_share = s.details.rotary_share == 0.25 ? 0.5 : 0.25;
         return can;
       }},
      {"rotary_scaling",
       [](ModelSpec& s) {
         if (!turns(s)) return false;
         if (!s.details.scaling) s.details.scaling = RotaryScaling{RotaryScaling::Kind::yarn, 3, 4096};
         return (s.details.scaling->factor += 1) > 0;
       }},
      {"unturned",
       [](ModelSpec& s) {
         auto& blocks = s.stacks.back().blocks;
         const bool can =
             turns(s) && blocks.size() > 2 && attends(blocks.back()) && blocks.back().attention.rotary;
         if (can) blocks.back().attention.rotary = false;
         return can;
       }},
      {"windows",
       [](ModelSpec& s) {
         if (!find_model_detail("indexer")->value(s).empty()) return false;
         return for_attention(s, [](AttentionSpec& a) { a.window += 64; });
       }},
      {"chunks",
       [](ModelSpec& s) {
         if (find_model_detail("windows")->value(s).empty()) return false;
         return for_attention(s, [](AttentionSpec& a) { a.chunked = !a.chunked; });
       }},
      {"sinks", [](ModelSpec& s) { return for_attention(s, [](AttentionSpec& a) { a.sinks = !a.sinks; }); }},
      {"output_gate",
       [](ModelSpec& s) {
         return for_attention(s,
                              [](AttentionSpec& a) { a.output_gate = a.output_gate > 0 ? 0 : a.head_dim; });
       }},
      {"head_norms",
       [](ModelSpec& s) { return for_attention(s, [](AttentionSpec& a) { a.head_norms = !a.head_norms; }); }},
      {"head_norm_over_all",
       [](ModelSpec& s) {
         return for_attention(s, [](AttentionSpec& a) {
           a.head_norms = true;
           a.head_norm_over_all = !a.head_norm_over_all;
         });
       }},
      {"biases of q, k, v",
       [](ModelSpec& s) {
         return for_attention(
             s, [](AttentionSpec& a) { a.query_bias = a.key_bias = a.value_bias = !a.query_bias; });
       }},
      {"bias of the output",
       [](ModelSpec& s) {
         return for_attention(s, [](AttentionSpec& a) { a.output_bias = !a.output_bias; });
       }},
      {"direction",
       [](ModelSpec& s) { return for_attention(s, [](AttentionSpec& a) { a.causal = !a.causal; }); }},
      {"layout",
       [](ModelSpec& s) {
         for (BlockSpec& b : s.stacks.back().blocks)
           b.layout = b.layout == NormLayout::sandwich ? NormLayout::pre : NormLayout::sandwich;
         return true;
       }},
      {"norm",
       [](ModelSpec& s) {
         const NormKind kind = s.stacks.back().norm == NormKind::rms ? NormKind::layer : NormKind::rms;
         s.stacks.back().norm = kind;
         for (BlockSpec& b : s.stacks.back().blocks) b.norm = kind;
         return true;
       }},
      {"activation",
       [](ModelSpec& s) {
         s.details.numbers.erase("squared_relu");
         for (BlockSpec& b : s.stacks.back().blocks)
           b.ffn.activation = b.ffn.activation == Activation::relu ? Activation::gelu : Activation::relu;
         return !states(s.details, "activation_limit") && !states(s.details, "activation_slope");
       }},
      {"scores",
       [](ModelSpec& s) {
         return for_experts(s, [](ExpertsSpec&, RouterDetails&) {}) &&
                (s.details.router.sigmoid = !s.details.router.sigmoid, true);
       }},
      {"normalized",
       [](ModelSpec& s) {
         const ExpertsSpec* e = experts_of(s.stacks.back());
         if (e == nullptr || e->top_k == 1) return false;
         s.details.router.normalized = !s.details.router.normalized;
         return true;
       }},
      {"groups",
       [](ModelSpec& s) {
         const ExpertsSpec* e = experts_of(s.stacks.back());
         if (e == nullptr || e->experts % 4 != 0) return false;
         s.details.router.group_top_k = s.details.router.groups == 4 ? 3 : 2;
         s.details.router.groups = 4;
         return true;
       }},
      {"router_scale",
       [](ModelSpec& s) {
         return experts_of(s.stacks.back()) != nullptr && (s.details.router.scale += 2) != 1;
       }},
      {"balance_loss",
       [](ModelSpec& s) {
         return experts_of(s.stacks.back()) != nullptr && (s.details.router.balance_loss += 0.5) > 0;
       }},
      {"balance_bias",
       [](ModelSpec& s) {
         const ExpertsSpec* e = experts_of(s.stacks.back());
         if (e == nullptr || e->correction_bias) return false;
         s.details.router.balance_bias = !s.details.router.balance_bias;
         return true;
       }},
      {"shared_gate",
       [](ModelSpec& s) {
         return for_experts(s, [](ExpertsSpec& e, RouterDetails&) { e.shared_gate = !e.shared_gate; });
       }},
      {"mtp", [](ModelSpec& s) { return (s.mtp_layers = s.mtp_layers > 0 ? 0 : 1) >= 0; }},
      {"stem", [](ModelSpec& s) { return (s.stacks.back().stem.norm = !s.stacks.back().stem.norm, true); }},
      {"head", [](ModelSpec& s) { return (s.head.bias = !s.head.bias, true); }},
      {"special", [](ModelSpec& s) { return (s.details.special.emplace_back("a part of tests"), true); }},
      {"unread", [](ModelSpec& s) { return (s.details.unread.emplace_back("made_up 2.5"), true); }},
  };
  for (const DetailNumber& number : detail_numbers()) {
    const std::string name(number.name);
    all.push_back({name, [name](ModelSpec& s) {
                     if (!can_state(s, name)) return false;
                     s.details.numbers[name] = number_of(s.details, name) + 3;
                     return true;
                   }});
  }
  return all;
}

}  // namespace nest::test
