#include "nest/model/hub/family_check.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/hub/family_fields.hpp"
#include "nest/model/hub/family_parts.hpp"

namespace nest::model {
namespace {

// What stands under a key.
enum class Says {
  text,
  flag,
  expression,
  expressions,
  values,
  texts,
  lists,
  parts,
  stacks,
  steps,
  shapes,
  any
};

struct Known {
  std::string_view key;
  Says says;
};
using Keys = std::span<const Known>;

constexpr std::array<Known, 12> kFile{{{"class", Says::text},
                                       {"source", Says::text},
                                       {"like", Says::text},
                                       {"defaults", Says::values},
                                       {"names", Says::expressions},
                                       {"model", Says::expressions},
                                       {"block", Says::expressions},
                                       {"lists", Says::lists},
                                       {"parts", Says::parts},
                                       {"stacks", Says::stacks},
                                       {"details", Says::any},
                                       {"special", Says::texts}}};
constexpr std::array<Known, 10> kStack{{{"name", Says::text},
                                        {"config", Says::text},
                                        {"family", Says::expression},
                                        {"when", Says::expression},
                                        {"among_tokens", Says::flag},
                                        {"exit", Says::text},
                                        {"or_whole", Says::flag},
                                        {"usual", Says::values},
                                        {"model", Says::expressions},
                                        {"block", Says::expressions}}};
constexpr std::array<Known, 2> kList{{{"known", Says::texts}, {"length", Says::expression}}};
// Beside the key that says the kind of the step.
constexpr std::array<Known, 19> kStep{{{"to", Says::shapes},
                                       {"as", Says::text},
                                       {"name", Says::text},
                                       {"parameters", Says::shapes},
                                       {"when", Says::expression},
                                       {"shared", Says::expression},
                                       {"bias", Says::expression},
                                       {"tied", Says::expression},
                                       {"span", Says::expression},
                                       {"count", Says::expression},
                                       {"whole", Says::expression},
                                       {"flops", Says::expression},
                                       {"counted", Says::expression},
                                       {"causal", Says::expression},
                                       {"window", Says::expression},
                                       {"kind", Says::expression},
                                       {"use", Says::text},
                                       {"repeat", Says::expression},
                                       {"with", Says::expressions}}};

constexpr std::array<std::string_view, 27> kModelFields{"hidden",
                                                        "vocab",
                                                        "layers",
                                                        "positions",
                                                        "position_table",
                                                        "token_types",
                                                        "embedding_norm",
                                                        "embedding_width",
                                                        "norm",
                                                        "final_norm",
                                                        "project_embedding",
                                                        "tied",
                                                        "head_bias",
                                                        "outputs",
                                                        "mtp_layers",
                                                        "mtp_layer",
                                                        "mtp_steps",
                                                        "streams",
                                                        "own_table",
                                                        "stem",
                                                        "tokens",
                                                        "patch_values",
                                                        "patch_bias",
                                                        "class_token",
                                                        "entry",
                                                        "exit",
                                                        "head"};
constexpr std::array<std::string_view, 44> kBlockFields{"norm",
                                                        "layout",
                                                        "heads",
                                                        "kv_heads",
                                                        "head_dim",
                                                        "value_dim",
                                                        "qkv_bias",
                                                        "key_bias",
                                                        "output_bias",
                                                        "rotary",
                                                        "causal",
                                                        "window",
                                                        "chunked",
                                                        "head_norms",
                                                        "head_norm",
                                                        "head_norm_over_all",
                                                        "output_gate",
                                                        "sinks",
                                                        "latent_rank",
                                                        "latent_query_rank",
                                                        "latent_nope_dim",
                                                        "index_heads",
                                                        "index_dim",
                                                        "gated",
                                                        "latent_rope_dim",
                                                        "latent_value_dim",
                                                        "activation",
                                                        "ffn",
                                                        "ffn_bias",
                                                        "down_bias",
                                                        "position_buckets",
                                                        "experts",
                                                        "top_k",
                                                        "expert_ffn",
                                                        "shared_ffn",
                                                        "shared_gate",
                                                        "router_bias",
                                                        "expert_bias",
                                                        "groups",
                                                        "group_limit",
                                                        "correction_bias",
                                                        "cross",
                                                        "steps",
                                                        "shares"};

class Checker {
 public:
  explicit Checker(const Document& document) : file_(document) {}

  void run() { group(file_, kFile, ""); }

 private:
  [[noreturn]] static void unknown(const Reader& r, const std::string& key,
                                   const std::vector<std::string>& known) {
    const std::string guess = did_you_mean(key, known);
    r.fail_at(key, "unknown key", guess.empty() ? "known: " + list_words(known) : guess);
  }
  template <class Words>
  static std::vector<std::string> words_of(const Words& words) {
    return {words.begin(), words.end()};
  }
  static std::vector<std::string> words_of(Keys keys) {
    std::vector<std::string> out;
    for (const Known& k : keys) out.emplace_back(k.key);
    return out;
  }

  void group(Reader& r, Keys keys, const std::string& also) {
    for (const std::string& key : r.keys()) {
      if (key == also) continue;
      const auto known = std::find_if(keys.begin(), keys.end(), [&](const Known& k) { return k.key == key; });
      if (known == keys.end()) unknown(r, key, words_of(keys));
      if (r.find(key) != nullptr) value(r, key, known->says);
    }
  }
  void value(Reader& r, const std::string& key, Says says) {
    switch (says) {
      case Says::text:
        static_cast<void>(r.text(key));
        return;
      case Says::flag:
        static_cast<void>(r.boolean_or(key, false));
        return;
      case Says::expression:
        expression(r, key);
        return;
      case Says::expressions:
        return expressions(r.object(key), key);
      case Says::texts:
        for (const Value& one : list(r, key)) {
          if (one.as_string() == nullptr) r.fail_at(key, "a list of texts is expected");
        }
        return;
      case Says::lists: {
        Reader lists = r.object(key);
        for (const std::string& name : lists.keys()) {
          Reader one = lists.object(name);
          group(one, kList, "");
        }
        return;
      }
      case Says::parts:
        return parts(r.object(key));
      case Says::stacks:
        for (Reader& stack : r.objects(key)) {
          static_cast<void>(stack.text("name"));
          group(stack, kStack, "");
          if (stack.find("family") != nullptr) static_cast<void>(stack.text("config"));
        }
        return;
      case Says::shapes:
        return shapes(r.object(key));
      case Says::values:
        static_cast<void>(r.object(key));
        return;
      case Says::steps:
      case Says::any:
        return;
    }
  }

  static const Value::Array& list(Reader& r, const std::string& key) {
    const Value& v = *r.find(key);
    if (v.as_array() == nullptr) r.fail_at(key, "a list is expected, not " + std::string(v.kind_name()));
    return *v.as_array();
  }
  static void expression(Reader& r, const std::string& key) {
    const Value& v = *r.find(key);
    if (v.as_array() != nullptr || v.as_object() != nullptr)
      r.fail_at(key, "an expression is expected, not " + std::string(v.kind_name()));
    try {
      static_cast<void>(expression_of(v));
    } catch (const InputError& e) {
      r.fail_at(key, e.problem());
    }
  }
  // Of a section with names of its own, or of one of the two whose fields are known.
  static void expressions(Reader section, const std::string& name) {
    for (const std::string& key : section.keys()) {
      const auto in = [&](const auto& fields) { return std::ranges::find(fields, key) != fields.end(); };
      if (name == "model" && !in(kModelFields)) unknown(section, key, words_of(kModelFields));
      if (name == "block" && !in(kBlockFields)) unknown(section, key, words_of(kBlockFields));
      if (section.find(key) != nullptr) expression(section, key);
    }
  }
  void parts(Reader section) {
    for (const std::string& name : section.keys()) {
      for (Reader& step : section.objects(name)) {
        const std::vector<std::string> keys = step.keys();
        const auto kind =
            std::ranges::find_if(keys, [](const std::string& key) { return is_step_kind(key); });
        const bool uses = step.find("use") != nullptr;
        if (kind == keys.end() && !uses)
          step.fail("a step has no kind that is known",
                    "it is one of " + list_words(step_kinds()) + ", or 'use'");
        group(step, kStep, kind == keys.end() ? "" : *kind);
        if (kind != keys.end()) operands(step, *kind);
      }
    }
  }
  static void operands(Reader& step, const std::string& kind) {
    const Value* from = step.find(kind);
    const auto* several = from == nullptr ? nullptr : from->as_array();
    const bool texts = several != nullptr && !several->empty() &&
                       std::ranges::all_of(*several, [](const Value& v) { return v.as_string() != nullptr; });
    if (!texts && (from == nullptr || from->as_string() == nullptr))
      step.fail_at(kind, "the name of a value, or a list of names, is expected");
  }
  // Names with a shape each: one expression, or expressions by axis.
  static void shapes(Reader section) {
    for (const std::string& name : section.keys()) {
      const Value* shape = section.find(name);
      if (shape == nullptr) section.fail_at(name, "a shape is expected");
      if (shape->as_object() == nullptr) {
        expression(section, name);
        continue;
      }
      if (shape->as_object()->empty()) section.fail_at(name, "a shape has one axis or more");
      Reader axes = section.object(name);
      for (const std::string& axis : axes.keys()) {
        if (!axis_named(axis)) axes.fail_at(axis, "there is no axis '" + axis + "'");
        if (axes.find(axis) == nullptr) axes.fail_at(axis, "a size is expected");
        expression(axes, axis);
      }
    }
  }

  Reader file_;
};

}  // namespace

void check_family(const Document& document) {
  Checker(document).run();
}

}  // namespace nest::model
