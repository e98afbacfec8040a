#include "nest/model/hub/family.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "nest/base/document/mismatch.hpp"
#include "nest/model/hub/family_fields.hpp"
#include "nest/model/hub/family_files.hpp"
#include "nest/model/hub/family_parts.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/hub/unread_keys.hpp"

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

// A module for multi-token prediction has a block with the fields of the layer `mtp_layer`, which may lie behind the
// last one, or made of the part `mtp_steps`; without either, the model's last block.
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

void read_head(Fields& f, ModelSpec& spec, std::int64_t vocab) {
  const std::int64_t outputs = f.count("outputs");
  spec.head.outputs = outputs > 0 ? outputs : vocab;
  if (f.has("tied")) spec.head.tied = f.flag("tied");
  if (f.has("head_bias")) spec.head.bias = f.flag("head_bias");
  if (f.has("head")) spec.head.steps = steps_of(f, f.word("head"), spec.stacks.back().hidden);
  if (f.has("mtp_layers")) spec.mtp_layers = f.count("mtp_layers");
  if (f.has("positions")) spec.positions = f.whole("positions", {0, kMostPositions}, 0);
}

// What an entry of `stacks` says of one stack.
struct Entry {
  std::string name;
  std::string config;  // the key of its part of the config; empty: the whole
  std::string type;    // of that part, as a family
  const Value* said;
  std::size_t stack = 0;  // of the model
};

Entry entry_of(const Value& said, Fields& f) {
  const auto text = [&](const char* key) {
    const Value* v = said.find(key);
    return v == nullptr || v->as_string() == nullptr ? std::string() : *v->as_string();
  };
  Entry e{text("name"), text("config"), "", &said};
  if (const Value* family = said.find("family")) {
    const Expression expression = expression_of(*family);
    const Value type = f.evaluate(expression);
    if (type.as_string() == nullptr)
      f.fail(expression, "nothing says of which type the part " + e.name + " is", type);
    e.type = *type.as_string();
  }
  return e;
}

// Each stack by the family of its part, or by this one's fields with those of its entry over them. The last one has
// the head.
ModelSpec read_stacks(Reader& r, const Described& family) {
  Fields f(r, family, family.model);
  ModelSpec spec;
  std::vector<Entry> entries;
  for (const Value& said : family.stacks) {
    Entry e = entry_of(said, f);
    if (const Value* when = said.find("when"); when != nullptr && !is_true(f.evaluate(expression_of(*when))))
      continue;
    ModelSpec part;
    if (!e.type.empty()) {
      Reader section = r.object(e.config);
      part = read_part(section, e.type);
    } else {
      Described own = family;
      if (const Value* model = said.find("model")) read_expressions(*model, own.model);
      if (const Value* block = said.find("block")) read_expressions(*block, own.block);
      Fields mine(r, own, own.model);
      part.stacks.push_back(stack_of(r, own, mine));
      part.head.outputs = part.stacks.back().stem.vocab;
    }
    StackSpec& last = part.stacks.back();  // towers of its own may stand before it
    last.prefix = e.name;
    last.to_tokens = said.find("among_tokens") != nullptr;
    f.set_name(e.name + "_hidden", last.hidden);
    f.set_name(e.name + "_ffn", last.blocks.empty() ? 0 : last.blocks.front().ffn.ffn);
    f.set_name(e.name + "_tied", part.head.tied);
    part.stacks.insert(part.stacks.begin(), std::make_move_iterator(spec.stacks.begin()),
                       std::make_move_iterator(spec.stacks.end()));
    spec = std::move(part);
    e.stack = spec.stacks.size() - 1;
    entries.push_back(std::move(e));
  }
  for (const Entry& e : entries) {
    const Value* exit = e.said->find("exit");
    if (exit == nullptr) continue;
    for (StepSpec& s : steps_of(f, *exit->as_string(), spec.stacks.back().hidden))
      spec.stacks[e.stack].exit.push_back(std::move(s));
  }
  read_head(f, spec, spec.head.outputs > 0 ? spec.head.outputs : spec.stacks.back().stem.vocab);
  return spec;
}

// What the config itself says stands before the family's value.
void read_numbers(Fields& f, ModelDetails& out) {
  for (const auto& [name, expression] : f.family().numbers) {
    const Value v = f.evaluate(expression);
    const double* real = v.as_real();
    const std::int64_t* whole = v.as_int();
    if (real != nullptr || whole != nullptr)
      out.numbers.try_emplace(name, real != nullptr ? *real : static_cast<double>(*whole));
  }
}

bool squares_relu(Reader& r, const Described& family) {
  Fields block(r, family, family.block);
  block.set_layer(0);
  return block.has("activation") && block.word_or("activation", "") == "relu2";
}

// Keys that the family's file has to do with, though not with this config's values.
std::vector<std::string> mentioned(const Reader& r, const Described& family) {
  std::vector<std::string> keys;
  keys.reserve(family.defaults.size());
  std::string parts;
  for (const auto& [name, steps] : family.parts) parts += to_json_line(steps);
  for (const auto& [key, value] : *r.value().as_object()) {
    if (parts.find(key) != std::string::npos) keys.push_back(key);
  }
  for (const auto& [key, value] : family.defaults) keys.push_back(key);
  const auto add = [&](const Described::Section& section) {
    for (const auto& [name, expression] : section) {
      const std::vector<std::string> names = expression.names();
      keys.insert(keys.end(), names.begin(), names.end());
    }
  };
  for (const Described::Section* section : {&family.names, &family.model, &family.block, &family.numbers})
    add(*section);
  for (const Value& stack : family.stacks) {
    const Value* config = stack.find("config");
    if (config != nullptr && config->as_string() != nullptr) keys.push_back(*config->as_string());
  }
  return keys;
}

}  // namespace

std::vector<std::string> types_of_data() {
  std::vector<std::string> types;
  for (const FamilyFile& file : family_table()) {
    if (!file.prefix.empty()) types.push_back(file.name);
  }
  return types;
}

bool described_by_data(const std::string& type) {
  return !class_prefix_of(type).empty();
}

bool described_as_part(const std::string& type) {
  const std::vector<FamilyFile>& all = family_table();
  return std::any_of(all.begin(), all.end(), [&](const FamilyFile& f) { return f.name == type; });
}

std::string class_prefix_of(const std::string& type) {
  const std::vector<FamilyFile>& all = family_table();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FamilyFile& f) { return f.name == type; });
  return found == all.end() ? std::string() : found->prefix;
}

std::vector<std::string> special_parts_of(const std::string& type) {
  return described_as_part(type) ? describe_family(type).special : std::vector<std::string>();
}

ModelSpec read_by_data(Reader& r, const std::string& type) {
  const Described family = describe_family(type);
  if (!family.stacks.empty()) {
    ModelSpec spec = read_stacks(r, family);
    for (const std::string& part : family.special) spec.details.special.push_back(part);
    for (std::string& key : unread_keys(r, mentioned(r, family)))
      spec.details.unread.push_back(std::move(key));
    return spec;
  }
  Fields f(r, family, family.model);
  ModelSpec spec;
  spec.stacks.push_back(stack_of(r, family, f));
  read_head(f, spec, spec.stacks.back().stem.vocab);
  if (spec.mtp_layers > 0) spec.mtp_block = prediction_block(r, family, f, spec.stacks.back());
  spec.details = read_details(r, family.details);
  read_numbers(f, spec.details);
  if (squares_relu(r, family)) spec.details.numbers.try_emplace("squared_relu", 1);
  spec.details.special = family.special;
  spec.details.unread = unread_keys(r, mentioned(r, family));
  return spec;
}

}  // namespace nest::model
