#include "nest/model/blocks/blocks.hpp"

#include <map>
#include <utility>

#include "nest/model/blocks/steps.hpp"

namespace nest::model {
namespace {

OperatorKind kind_of(Activation activation) {
  switch (activation) {
    case Activation::swiglu:
      return OperatorKind::swiglu;
    case Activation::geglu:
      return OperatorKind::geglu;
    case Activation::gelu:
      return OperatorKind::gelu;
    case Activation::relu:
      return OperatorKind::relu;
  }
  return OperatorKind::gelu;
}

bool gated(Activation a) {
  return a == Activation::swiglu || a == Activation::geglu;
}

Dim last(const LayerBuilder& b, TensorIndex x) {
  return b.last_dim(x);
}

struct QueryKeyValue {
  TensorIndex q;
  TensorIndex k;
  TensorIndex v;
};

QueryKeyValue add_projections(LayerBuilder& b, const std::string& prefix, TensorIndex x,
                              const AttentionSpec& s, std::optional<TensorIndex> source) {
  const Dim hidden = last(b, x);
  const Dim dim{Axis::head_dim, s.head_dim};
  const Weight q{"q", {{Axis::heads, s.heads}, dim}, s.query_bias};
  const Weight k{"k", {{Axis::kv_heads, s.kv_heads}, dim}, s.key_bias};
  const Dim value_dim{Axis::head_dim, s.value_dim > 0 ? s.value_dim : s.head_dim};
  const Weight v{"v", {{Axis::kv_heads, s.kv_heads}, value_dim}, s.value_bias};
  if (source) {
    const TensorIndex query = b.matmul(prefix + "q", x, {hidden}, q);
    const auto kv = b.matmul(prefix + "kv", *source, {last(b, *source)}, std::vector<Weight>{k, v});
    return {query, kv[0], kv[1]};
  }
  const auto qkv = b.matmul(prefix + "qkv", x, {hidden}, std::vector<Weight>{q, k, v});
  return {qkv[0], qkv[1], qkv[2]};
}

// Scores of all keys by heads of their own, of which each query keeps the best: DeepSeek's sparse attention.
void add_indexer(LayerBuilder& b, const std::string& prefix, TensorIndex x, TensorIndex latent,
                 const AttentionSpec& s) {
  const Dim heads{Axis::heads, s.latent->index_heads};
  const Dim dim{Axis::head_dim, s.latent->index_dim};
  const TensorIndex q = b.matmul(prefix + "q", latent, {last(b, latent)}, Weight{"index_q", {heads, dim}});
  TensorIndex k = b.matmul(prefix + "k", x, {last(b, x)}, Weight{"index_k", {{Axis::kv_heads, 1}, dim}});
  k = b.norm(prefix + "k_norm", k, NormKind::layer);
  const TensorIndex weights = b.matmul(prefix + "weights", x, {last(b, x)}, Weight{"index_weights", {heads}});
  Shape one = b.shape(k);
  one.back().size = 1;
  const TensorIndex v = b.general({prefix + "one", OperatorKind::scale, {k}, {}, {{"index_v", one}}}).front();
  AttentionFacts facts{s.causal, 0};
  facts.chosen = s.window;
  const TensorIndex scores = b.attention(prefix + "scores", q, k, v, facts);
  b.pointwise(prefix + "weighted", OperatorKind::scale, {scores, weights});
}

// DeepSeek's projections: low-rank latents with norms, and one rotary key shared by all heads.
QueryKeyValue add_latent_projections(LayerBuilder& b, const std::string& prefix, TensorIndex x,
                                     const AttentionSpec& s) {
  const LatentAttention& l = *s.latent;
  const Dim hidden = last(b, x);
  const Dim heads{Axis::heads, s.heads};
  const Dim key_dim{Axis::head_dim, l.nope_dim + l.rope_dim};
  TensorIndex q = 0;
  if (l.query_rank > 0) {
    const Dim rank{Axis::latent, l.query_rank};
    q = b.matmul(prefix + "q_down", x, {hidden}, Weight{"q_latent", {rank}, s.query_bias});
    q = b.norm(prefix + "q_norm", q, NormKind::rms);
    if (l.index_heads > 0) add_indexer(b, prefix + "index.", x, q, s);
    q = b.matmul(prefix + "q_up", q, {rank}, Weight{"q", {heads, key_dim}});
  } else {
    q = b.matmul(prefix + "q", x, {hidden}, Weight{"q", {heads, key_dim}});
  }
  const Dim rank{Axis::latent, l.key_value_rank};
  const auto down = b.matmul(prefix + "kv_down", x, {hidden},
                             std::vector<Weight>{{"kv_latent", {rank}, s.key_bias},
                                                 {"k_rope", {{Axis::head_dim, l.rope_dim}}, s.key_bias}});
  const TensorIndex latent = b.norm(prefix + "kv_norm", down[0], NormKind::rms);
  const auto up = b.matmul(prefix + "kv_up", latent, {rank},
                           std::vector<Weight>{{"k_nope", {heads, {Axis::head_dim, l.nope_dim}}},
                                               {"v", {heads, {Axis::head_dim, l.value_dim}}}});
  const Shape full = b.shape(q);
  const auto turned = b.general({prefix + "rotary",
                                 OperatorKind::rotary,
                                 {q, up[0], down[1]},
                                 {},
                                 {{"q_turned", full}, {"k_turned", full}}});
  return {turned[0], turned[1], up[1]};
}

}  // namespace

TensorIndex add_attention(LayerBuilder& b, const std::string& prefix, TensorIndex x, const AttentionSpec& s,
                          std::optional<TensorIndex> source) {
  const Dim hidden = last(b, x);
  QueryKeyValue p =
      s.latent ? add_latent_projections(b, prefix, x, s) : add_projections(b, prefix, x, s, source);
  if (s.head_norms) {
    const std::size_t span = s.head_norm_over_all ? 2 : 1;
    p.q = b.norm(prefix + "q_norm", p.q, s.head_norm, span);
    p.k = b.norm(prefix + "k_norm", p.k, s.head_norm, span);
  }
  if (s.rotary && !s.latent) {
    const Shape qs = b.shape(p.q);
    const Shape ks = b.shape(p.k);
    const auto turned = b.general(
        {prefix + "rotary", OperatorKind::rotary, {p.q, p.k}, {}, {{"q_turned", qs}, {"k_turned", ks}}});
    p.q = turned[0];
    p.k = turned[1];
  }
  AttentionFacts facts{.causal = s.causal};
  (s.chunked ? facts.chunk : facts.window) = s.window;
  TensorIndex core = b.attention(prefix + "attention", p.q, p.k, p.v, facts);
  if (s.position_buckets > 0) {
    b.also_parameter({prefix + "attention.relative_positions",
                      {{Axis::positions, s.position_buckets}, {Axis::heads, s.heads}},
                      DType::bf16,
                      Role::parameter});
  }
  if (s.sinks) {
    b.also_parameter({prefix + "attention.sinks", {{Axis::heads, s.heads}}, DType::bf16, Role::parameter});
  }
  const Shape features{b.shape(core)[2], b.shape(core)[3]};
  if (s.output_gate > 0) {
    const Weight weight{"gate", {features[0], {Axis::head_dim, s.output_gate}}};
    const TensorIndex gate = b.matmul(prefix + "gate", x, {hidden}, weight);
    core = b.pointwise(prefix + "gated", OperatorKind::scale, {core, gate});
  }
  return b.matmul(prefix + "output", core, features, Weight{"attention_result", {hidden}, s.output_bias});
}

TensorIndex add_feed_forward(LayerBuilder& b, const std::string& prefix, TensorIndex x,
                             const FeedForwardSpec& s) {
  const Dim hidden = last(b, x);
  const Dim ffn{Axis::ffn, s.ffn};
  TensorIndex inner = 0;
  if (gated(s.activation)) {
    const auto in = b.matmul(prefix + "gate_up", x, {hidden},
                             std::vector<Weight>{{"gate", {ffn}, s.gate_bias}, {"up", {ffn}, s.gate_bias}});
    inner = b.pointwise(prefix + "activation", kind_of(s.activation), in);
  } else {
    const TensorIndex in = b.matmul(prefix + "up", x, {hidden}, Weight{"up", {ffn}, s.gate_bias});
    inner = b.pointwise(prefix + "activation", kind_of(s.activation), {in});
  }
  return b.matmul(prefix + "down", inner, {ffn}, Weight{"ffn_result", {hidden}, s.down_bias});
}

TensorIndex add_experts(LayerBuilder& b, TensorIndex x, const ExpertsSpec& s, Activation activation,
                        std::optional<TensorIndex> routed_by) {
  const Shape tokens = b.shape(x);
  const Dim hidden = tokens.back();
  const Dim experts{Axis::experts, s.experts};
  const Dim ffn{Axis::ffn, s.ffn};
  Shape rows = tokens;
  rows.pop_back();
  const Dim routed{Axis::routed, times(elements(rows), s.top_k)};
  const Shape choice = join(rows, {{Axis::other, s.top_k}});
  b.set_routing({.experts = s.experts,
                 .top_k = s.top_k,
                 .groups = s.groups,
                 .limit = s.group_limit,
                 .token_bytes = 2 * static_cast<double>(hidden.size)});

  const TensorIndex seen = routed_by.value_or(x);
  const TensorIndex scores =
      b.matmul("router", seen, {last(b, seen)}, Weight{"scores", {experts}, s.router_bias});
  std::vector<Tensor> bias;
  if (s.correction_bias) bias.push_back({"router.correction", {experts}, DType::fp32, Role::parameter});
  const auto routing = b.general({"top_k",
                                  OperatorKind::router,
                                  {scores},
                                  std::move(bias),
                                  {{"probabilities", join(rows, {experts}), DType::fp32},
                                   {"weights", choice, DType::fp32},
                                   {"chosen", choice, DType::int64}}});
  const TensorIndex sent =
      b.general({"dispatch", OperatorKind::dispatch, {x, routing[2]}, {}, {{"sent", {routed, hidden}}}})
          .front();
  TensorIndex inner = 0;
  if (gated(activation)) {
    const auto in =
        b.grouped_matmul("experts.gate_up", sent, experts, {hidden},
                         std::vector<Weight>{{"gate", {ffn}, s.expert_bias}, {"up", {ffn}, s.expert_bias}});
    inner = b.pointwise("experts.activation", kind_of(activation), in);
  } else {
    const auto in =
        b.grouped_matmul("experts.up", sent, experts, {hidden}, {Weight{"up", {ffn}, s.expert_bias}});
    inner = b.pointwise("experts.activation", kind_of(activation), in);
  }
  const TensorIndex made = b.grouped_matmul("experts.down", inner, experts, {ffn},
                                            {Weight{"expert_result", {hidden}, s.expert_bias}})
                               .front();
  const TensorIndex together =
      b.general({"combine", OperatorKind::combine, {made, routing[1]}, {}, {{"combined", tokens}}}).front();
  if (s.shared_ffn == 0) return together;

  TensorIndex shared = add_feed_forward(b, "shared.", x, {s.shared_ffn, activation});
  if (s.shared_gate) {
    const TensorIndex gate = b.matmul("shared.gate", x, {hidden}, Weight{"shared_gate", {{Axis::other, 1}}});
    shared = b.pointwise("shared.scale", OperatorKind::scale, {shared, gate});
  }
  return b.pointwise("shared.add", OperatorKind::add, {together, shared});
}

TensorIndex add_block(LayerBuilder& b, TensorIndex x, const BlockSpec& s, std::optional<TensorIndex> memory) {
  const auto norm = [&](const char* name, TensorIndex t) { return b.norm(name, t, s.norm); };
  const auto feed = [&](TensorIndex t) {
    return s.experts ? add_experts(b, t, *s.experts, s.ffn.activation) : add_feed_forward(b, "", t, s.ffn);
  };
  const auto add = [&](const char* name, std::vector<TensorIndex> terms) {
    return b.residual(name, std::move(terms));
  };
  if (!s.steps.empty()) {
    std::map<std::string, TensorIndex> values{{"x", x}};
    if (memory) values.emplace("memory", *memory);
    return add_steps(b, s.steps, std::move(values), &s);
  }
  switch (s.layout) {
    case NormLayout::pre: {
      const TensorIndex a = add_attention(b, "", norm("attention_norm", x), s.attention);
      TensorIndex y = add("attention_add", {x, a});
      if (s.cross && memory) {
        const TensorIndex c = add_attention(b, "cross_", norm("cross_norm", y), *s.cross, memory);
        y = add("cross_add", {y, c});
      }
      return add("ffn_add", {y, feed(norm("ffn_norm", y))});
    }
    case NormLayout::post: {
      const TensorIndex a = add_attention(b, "", x, s.attention);
      TensorIndex y = norm("attention_norm", add("attention_add", {x, a}));
      if (s.cross && memory) {
        const TensorIndex c = add_attention(b, "cross_", y, *s.cross, memory);
        y = norm("cross_norm", add("cross_add", {y, c}));
      }
      return norm("ffn_norm", add("ffn_add", {y, feed(y)}));
    }
    case NormLayout::parallel: {
      const TensorIndex n = norm("norm", x);
      const TensorIndex a = add_attention(b, "", n, s.attention);
      return add("add", {x, a, feed(n)});
    }
    case NormLayout::parallel_two: {
      const TensorIndex a = add_attention(b, "", norm("attention_norm", x), s.attention);
      return add("add", {x, a, feed(norm("ffn_norm", x))});
    }
    case NormLayout::post_branch: {
      const TensorIndex a = add_attention(b, "", x, s.attention);
      const TensorIndex y = add("attention_add", {x, norm("attention_post_norm", a)});
      return add("ffn_add", {y, norm("ffn_post_norm", feed(y))});
    }
    case NormLayout::sandwich: {
      const TensorIndex a = add_attention(b, "", norm("attention_norm", x), s.attention);
      TensorIndex y = add("attention_add", {x, norm("attention_post_norm", a)});
      if (s.cross && memory) {
        const TensorIndex c = add_attention(b, "cross_", norm("cross_norm", y), *s.cross, memory);
        y = add("cross_add", {y, norm("cross_post_norm", c)});
      }
      return add("ffn_add", {y, norm("ffn_post_norm", feed(norm("ffn_norm", y)))});
    }
  }
  return x;
}

}  // namespace nest::model
