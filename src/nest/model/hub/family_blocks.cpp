#include "nest/model/hub/family_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "nest/base/document/mismatch.hpp"
#include "nest/model/hub/family_parts.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {
namespace {

constexpr std::array<std::pair<std::string_view, NormLayout>, 6> kLayouts{
    {{"pre", NormLayout::pre},
     {"post", NormLayout::post},
     {"parallel", NormLayout::parallel},
     {"parallel_two", NormLayout::parallel_two},
     {"sandwich", NormLayout::sandwich},
     {"post_branch", NormLayout::post_branch}}};

NormLayout layout_of(Fields& f) {
  const std::string word = f.word("layout");
  for (const auto& [name, layout] : kLayouts) {
    if (name == word) return layout;
  }
  f.fail("layout", "the layout '" + word + "' is not known");
}

AttentionSpec attention_of(Fields& f) {
  AttentionSpec a;
  a.heads = f.size("heads");
  a.kv_heads = f.size("kv_heads");
  a.head_dim = f.size("head_dim");
  a.value_dim = f.count("value_dim");
  a.query_bias = a.key_bias = a.value_bias = f.flag("qkv_bias");
  a.key_bias = f.flag("key_bias", a.key_bias);
  a.causal = f.flag("causal", true);
  a.position_buckets = f.count("position_buckets");
  a.output_bias = f.flag("output_bias");
  a.rotary = f.flag("rotary", true);
  a.window = f.count("window");
  a.chunked = f.flag("chunked");
  a.head_norms = f.flag("head_norms");
  if (a.head_norms) a.head_norm = norm_kind_of(f, "head_norm");
  a.head_norm_over_all = f.flag("head_norm_over_all");
  a.sinks = f.flag("sinks");
  a.output_gate = f.count("output_gate");
  if (const std::int64_t rank = f.count("latent_rank"); rank > 0) {
    LatentAttention latent;
    latent.query_rank = f.count("latent_query_rank");
    latent.key_value_rank = rank;
    latent.nope_dim = f.size("latent_nope_dim");
    latent.rope_dim = f.size("latent_rope_dim");
    latent.value_dim = f.size("latent_value_dim");
    latent.index_heads = f.count("index_heads");
    if (latent.index_heads > 0) latent.index_dim = f.size("index_dim");
    if (latent.index_heads > 0 && latent.query_rank == 0)
      f.fail("latent_query_rank",
             "the heads that choose keys read a latent of the queries, and there is none");
    a.kv_heads = a.heads;
    a.head_dim = latent.nope_dim + latent.rope_dim;
    a.latent = latent;
  }
  return a;
}

ExpertsSpec experts_of(Reader& r, Fields& f) {
  ExpertsSpec e;
  e.experts = f.size("experts");
  e.top_k = f.size("top_k");
  check_top_k(r, e.top_k, e.experts);
  e.ffn = f.size("expert_ffn");
  e.shared_ffn = f.count("shared_ffn");
  e.shared_gate = f.flag("shared_gate");
  e.correction_bias = f.flag("correction_bias");
  e.router_bias = f.flag("router_bias");
  e.expert_bias = f.flag("expert_bias");
  e.groups = f.count("groups");
  e.group_limit = f.count("group_limit");
  if (e.groups <= 1 || e.group_limit >= e.groups || e.experts % e.groups != 0) e.groups = e.group_limit = 0;
  return e;
}

BlockSpec block_of(Reader& r, Fields& f, std::int64_t hidden) {
  BlockSpec block;
  block.norm = norm_kind_of(f, "norm");
  block.layout = layout_of(f);
  block.steps = steps_of(f, f.word_or("steps", ""), hidden);
  if (f.has("shares")) block.shares = f.shared_layer();
  // A block of other parts has none of these: a state space.
  const auto used = [&](StepSpec::Kind kind) {
    return block.steps.empty() || std::any_of(block.steps.begin(), block.steps.end(),
                                              [&](const StepSpec& s) { return s.kind == kind; });
  };
  if (used(StepSpec::Kind::mixer) || used(StepSpec::Kind::cross)) {
    block.attention = attention_of(f);
    check_kv_heads(r, block.attention.heads, block.attention.kv_heads);
  }
  if (f.flag("cross")) {
    block.cross = block.attention;
    block.cross->causal = false;
    block.cross->rotary = false;
    block.cross->window = 0;
    block.cross->position_buckets = 0;
  }
  if (!block.steps.empty() && used(StepSpec::Kind::experts) && f.count("experts") == 0)
    f.fail("experts", "the layer has experts, but their number is 0");
  const bool dense = used(StepSpec::Kind::dense);
  const bool experts = used(StepSpec::Kind::experts) && f.count("experts") > 0;
  if (!dense && !experts) return block;
  const FeedForward kind = f.flag("gated", true) ? FeedForward::gated : FeedForward::plain;
  const std::string name = f.word("activation");
  const auto activation = activation_of(name, kind);
  if (!activation) f.fail("activation", "the activation " + quoted(name) + " is not known");
  block.ffn.activation = *activation;
  if (experts) block.experts = experts_of(r, f);
  if (experts && (block.steps.empty() || !dense)) return block;
  block.ffn.ffn = f.size("ffn");
  block.ffn.gate_bias = f.flag("ffn_bias");
  block.ffn.down_bias = f.flag("down_bias", block.ffn.gate_bias);
  return block;
}

constexpr std::array<std::pair<std::string_view, StemSpec::Kind>, 3> kStems{
    {{"tokens", StemSpec::Kind::tokens},
     {"patches", StemSpec::Kind::patches},
     {"frames", StemSpec::Kind::frames}}};

void read_stem(Fields& f, StackSpec& stack) {
  const std::string word = f.word_or("stem", "tokens");
  const auto* const found =
      std::find_if(kStems.begin(), kStems.end(), [&](const auto& row) { return row.first == word; });
  if (found == kStems.end()) f.fail("stem", "the stem '" + word + "' is not known");
  stack.stem.kind = found->second;
  stack.stem.positions = f.count("position_table");
  stack.stem.types = f.count("token_types");
  stack.stem.norm = f.flag("embedding_norm");
  if (stack.stem.kind == StemSpec::Kind::tokens) {
    stack.stem.vocab = f.size("vocab");
    stack.stem.width = f.count("embedding_width");
    stack.stem.projected = f.flag("project_embedding", true);
    stack.stem.own_table = f.flag("own_table");
    stack.sequence = f.count("tokens");
    return;
  }
  stack.sequence = f.size("tokens");
  stack.stem.patch_values = f.size("patch_values");
  stack.stem.patch_bias = f.flag("patch_bias", true);
  stack.stem.class_token = f.flag("class_token");
}

}  // namespace

StackSpec stack_of(Reader& r, const Described& family, Fields& f) {
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = f.size("hidden");
  stack.norm = norm_kind_of(f, "norm");
  stack.final_norm = f.flag("final_norm", true);
  stack.streams = f.whole("streams", {1, 64}, 1);
  read_stem(f, stack);
  stack.entry = steps_of(f, f.word_or("entry", ""), stack.hidden);
  stack.exit = steps_of(f, f.word_or("exit", ""), stack.hidden);
  const std::int64_t layers = f.whole("layers", {0, kMostLayers}, 1);
  Fields b(r, family, family.block);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    b.set_layer(layer);
    stack.blocks.push_back(block_of(r, b, stack.hidden));
  }
  return stack;
}

std::optional<BlockSpec> prediction_block(Reader& r, const Described& family, Fields& f,
                                          const StackSpec& stack) {
  if (!f.has("mtp_layer") && !f.has("mtp_steps")) return std::nullopt;
  Described own = family;
  if (f.has("mtp_steps")) own.block.insert_or_assign("steps", family.model.at("mtp_steps"));
  Fields b(r, own, own.block);
  const auto layers = static_cast<std::int64_t>(stack.blocks.size());
  b.set_layer(f.whole("mtp_layer", {0, kMostLayers}, layers - 1));
  return block_of(r, b, stack.hidden);
}

}  // namespace nest::model
