#include "nest/model/hub/family.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/model/hub/expression.hpp"
#include "nest/model/hub/hub_details.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {
namespace {

// A file with what it takes over from the one that it is like.
struct Described {
  std::map<std::string, Value> defaults;
  std::map<std::string, Expression> model;
  std::map<std::string, Expression> block;
  DetailDefaults details;
  std::vector<std::string> special;
};

Document parse_family(const EmbeddedFile& file) {
  return parse_yaml("data/families/" + std::string(file.name) + ".yaml", std::string(file.text));
}

const EmbeddedFile* file_of(const std::string& type) {
  return find_embedded(family_files(), type);
}

// A line of the file, without parsing the rest: the tables of types are asked for often.
std::string line_after(const EmbeddedFile& file, std::string_view key) {
  const std::size_t at = file.text.starts_with(key) ? 0 : file.text.find("\n" + std::string(key));
  if (at == std::string_view::npos) return {};
  const std::size_t begin = file.text.find(key, at) + key.size();
  return std::string(file.text.substr(begin, file.text.find('\n', begin) - begin));
}

Expression expression_of(const Value& v) {
  if (const std::string* text = v.as_string()) return Expression::parse(*text);
  return Expression::parse(to_json_line(v));
}

void read_expressions(Reader section, std::map<std::string, Expression>& out) {
  for (const std::string& key : section.keys()) {
    out.insert_or_assign(key, expression_of(*section.value().find(key)));
  }
}

void read_detail_defaults(Reader section, DetailDefaults& d) {
  d.norm_epsilon = section.number_or("norm_epsilon", d.norm_epsilon);
  d.rotary_base = section.number_or("rotary_base", d.rotary_base);
  d.rotary_share = section.number_or("rotary_share", d.rotary_share);
  d.balance_loss = section.number_or("balance_loss", d.balance_loss);
  d.normalized = section.boolean_or("normalized", d.normalized);
  d.groups = section.whole_or("groups", d.groups);
  d.group_top_k = section.whole_or("group_top_k", d.group_top_k);
  d.scale = section.number_or("scale", d.scale);
  section.done();
}

// NOLINTNEXTLINE(misc-no-recursion): along `like`, which tests show to end
Described describe_family(const std::string& name) {
  const EmbeddedFile* file = file_of(name);
  if (file == nullptr) throw InputError("data/families", "like", "there is no family '" + name + "'");
  const Document document = parse_family(*file);
  Reader r(document);
  Described out;
  if (r.has("like")) out = describe_family(r.text("like"));
  static_cast<void>(r.text_or("class", ""));
  static_cast<void>(r.text_or("source", ""));
  if (auto defaults = r.object_if("defaults")) {
    for (const std::string& key : defaults->keys())
      out.defaults.insert_or_assign(key, *defaults->value().find(key));
  }
  if (auto section = r.object_if("model")) read_expressions(*section, out.model);
  if (auto section = r.object_if("block")) read_expressions(*section, out.block);
  if (auto section = r.object_if("details")) read_detail_defaults(*section, out.details);
  if (const Value* special = r.find("special"); special != nullptr && special->as_array() != nullptr) {
    out.special.clear();
    for (const Value& part : *special->as_array()) out.special.push_back(*part.as_string());
  }
  r.done();
  return out;
}

// The fields of one section for one config.json: every expression, evaluated where somebody asks for it.
class Fields {
 public:
  Fields(Reader& r, const Described& family, const std::map<std::string, Expression>& section)
      : r_(r), family_(family), section_(section) {}

  void set_layer(std::int64_t layer) { layer_ = layer; }

  std::int64_t whole(const std::string& field, WholeRange range, std::int64_t fallback) {
    const Value v = value(field);
    if (v.is_null()) return fallback;
    if (const bool* flag = v.as_bool(); flag != nullptr && !*flag && range.least == 0) return 0;
    const double* real = v.as_real();
    const bool even = real != nullptr && *real == std::floor(*real) && std::abs(*real) < 1e15;
    if (v.as_int() == nullptr && !even)
      fail(field, "expected a whole number for " + field + ", found " + std::string(v.kind_name()));
    const std::int64_t n = even ? static_cast<std::int64_t>(*real) : *v.as_int();
    if (n < range.least || n > range.most) {
      fail(field, std::to_string(n) + " is outside " + std::to_string(range.least) + " to " +
                      std::to_string(range.most) + " for " + field);
    }
    return n;
  }
  std::int64_t size(const std::string& field) {
    if (value(field).is_null()) fail(field, "nothing says how large " + field + " is");
    return whole(field, kSizeRange, 0);
  }
  std::int64_t count(const std::string& field) { return whole(field, {0, kSizeRange.most}, 0); }
  bool flag(const std::string& field, bool fallback = false) {
    const Value v = value(field);
    return v.is_null() ? fallback : is_true(v);
  }
  std::string word(const std::string& field) {
    const Value v = value(field);
    if (v.as_string() == nullptr)
      fail(field, "expected a word for " + field + ", found " + std::string(v.kind_name()));
    return *v.as_string();
  }

  [[noreturn]] void fail(const std::string& field, const std::string& what) {
    const auto at = section_.find(field);
    if (at != section_.end()) {
      for (const std::string& name : at->second.names()) {
        const Value* given = r_.value().find(name);
        if (given != nullptr && !given->is_null()) r_.fail_at(name, what);
      }
    }
    r_.fail(what);
  }

 private:
  Value value(const std::string& field) {
    const auto at = section_.find(field);
    if (at == section_.end()) return {};
    try {
      return at->second.evaluate([&](const std::string& name) { return key(name); });
    } catch (const InputError& e) {
      fail(field, e.what());
    }
  }
  Value key(const std::string& name) {
    if (name == "layer") return layer_;
    static_cast<void>(r_.has(name));
    if (const Value* given = r_.value().find(name)) return *given;
    const auto at = family_.defaults.find(name);
    return at == family_.defaults.end() ? Value() : at->second;
  }

  Reader& r_;
  const Described& family_;
  const std::map<std::string, Expression>& section_;
  std::int64_t layer_ = 0;
};

template <typename Kind>
struct Word {
  std::string_view word;
  Kind kind;
};

template <typename Kind, std::size_t N>
Kind kind_of(Fields& f, const std::string& field, const std::array<Word<Kind>, N>& words) {
  const std::string word = f.word(field);
  for (const Word<Kind>& w : words) {
    if (w.word == word) return w.kind;
  }
  f.fail(field, "the " + field + " '" + word + "' is not known");
}

constexpr std::array<Word<NormKind>, 4> kNorms{{{"rms", NormKind::rms},
                                                {"layer", NormKind::layer},
                                                {"layer_weight", NormKind::layer_weight},
                                                {"bare", NormKind::bare}}};
constexpr std::array<Word<NormLayout>, 6> kLayouts{{{"pre", NormLayout::pre},
                                                    {"post", NormLayout::post},
                                                    {"parallel", NormLayout::parallel},
                                                    {"parallel_two", NormLayout::parallel_two},
                                                    {"sandwich", NormLayout::sandwich},
                                                    {"post_branch", NormLayout::post_branch}}};

AttentionSpec attention_of(Fields& f) {
  AttentionSpec a;
  a.heads = f.size("heads");
  a.kv_heads = f.size("kv_heads");
  a.head_dim = f.size("head_dim");
  a.query_bias = a.key_bias = a.value_bias = f.flag("qkv_bias");
  a.output_bias = f.flag("output_bias");
  a.rotary = f.flag("rotary", true);
  a.window = f.count("window");
  a.head_norms = f.flag("head_norms");
  if (a.head_norms) a.head_norm = kind_of(f, "head_norm", kNorms);
  a.head_norm_over_all = f.flag("head_norm_over_all");
  a.sinks = f.flag("sinks");
  if (const std::int64_t rank = f.count("latent_rank"); rank > 0) {
    LatentAttention latent;
    latent.query_rank = f.count("latent_query_rank");
    latent.key_value_rank = rank;
    latent.nope_dim = f.size("latent_nope_dim");
    latent.rope_dim = f.size("latent_rope_dim");
    latent.value_dim = f.size("latent_value_dim");
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

BlockSpec block_of(Reader& r, Fields& f) {
  BlockSpec block;
  block.norm = kind_of(f, "norm", kNorms);
  block.layout = kind_of(f, "layout", kLayouts);
  block.attention = attention_of(f);
  check_kv_heads(r, block.attention.heads, block.attention.kv_heads);
  const FeedForward kind = f.flag("gated", true) ? FeedForward::gated : FeedForward::plain;
  const std::string name = f.word("activation");
  const auto activation = activation_of(name, kind);
  if (!activation) f.fail("activation", "the activation '" + name + "' is not known");
  block.ffn.activation = *activation;
  if (f.count("experts") > 0) {
    block.experts = experts_of(r, f);
    return block;
  }
  block.ffn.ffn = f.size("ffn");
  block.ffn.gate_bias = block.ffn.down_bias = f.flag("ffn_bias");
  return block;
}

}  // namespace

std::vector<std::string> types_of_data() {
  std::vector<std::string> types;
  for (const EmbeddedFile& file : family_files()) {
    if (!line_after(file, "class: ").empty()) types.emplace_back(file.name);
  }
  return types;
}

bool described_by_data(const std::string& type) {
  const EmbeddedFile* file = file_of(type);
  return file != nullptr && !line_after(*file, "class: ").empty();
}

std::string class_prefix_of(const std::string& type) {
  return line_after(*file_of(type), "class: ");
}

ModelSpec read_by_data(Reader& r, const std::string& type) {
  const Described family = describe_family(type);
  Fields f(r, family, family.model);
  ModelSpec spec;
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = f.size("hidden");
  stack.norm = kind_of(f, "norm", kNorms);
  stack.final_norm = f.flag("final_norm", true);
  stack.stem.vocab = f.size("vocab");
  stack.stem.positions = f.count("position_table");
  stack.stem.norm = f.flag("embedding_norm");
  const std::int64_t layers = f.whole("layers", {1, kMostLayers}, 1);
  Fields b(r, family, family.block);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    b.set_layer(layer);
    stack.blocks.push_back(block_of(r, b));
  }
  spec.positions = f.count("positions");
  spec.head.outputs = stack.stem.vocab;
  spec.head.tied = f.flag("tied");
  spec.head.bias = f.flag("head_bias");
  spec.mtp_layers = f.count("mtp_layers");
  spec.stacks.push_back(std::move(stack));
  spec.details = read_details(r, family.details);
  spec.details.special = family.special;
  return spec;
}

}  // namespace nest::model
