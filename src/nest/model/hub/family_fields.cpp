#include "nest/model/hub/family_fields.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/blocks/detail_numbers.hpp"
#include "nest/model/hub/family_check.hpp"
#include "nest/model/hub/family_files.hpp"

namespace nest::model {
namespace {

void read_detail_defaults(Reader section, DetailDefaults& d, Described::Section& numbers) {
  for (const DetailNumber& number : detail_numbers()) {
    const std::string name(number.name);
    if (!section.has(name)) continue;
    try {
      numbers.insert_or_assign(name, expression_of(*section.find(name)));
    } catch (const InputError& e) {
      section.fail_at(name, e.problem());
    }
  }
  d.norm_epsilon = section.number_or("norm_epsilon", d.norm_epsilon);
  d.rotary_base = section.number_or("rotary_base", d.rotary_base);
  d.rotary_share = section.number_or("rotary_share", d.rotary_share);
  d.balance_loss = section.number_or("balance_loss", d.balance_loss);
  d.normalized = section.boolean_or("normalized", d.normalized);
  d.groups = section.whole_or("groups", d.groups);
  d.group_top_k = section.whole_or("group_top_k", d.group_top_k);
  d.scale = section.number_or("scale", d.scale);
  d.sigmoid = section.boolean_or("sigmoid", d.sigmoid);
  d.balance_bias = section.boolean_or("balance_bias", d.balance_bias);
  section.done();
}

}  // namespace

Expression expression_of(const Value& v) {
  if (const std::string* text = v.as_string()) return Expression::parse(*text);
  return Expression::parse(to_json_line(v));
}

void read_expressions(const Value& section, Described::Section& out, const std::string& file) {
  const auto* members = section.as_object();
  if (members == nullptr) return;
  for (const auto& [key, value] : *members) {
    try {
      out.insert_or_assign(key, expression_of(value));
    } catch (const InputError& e) {
      throw InputError(file, key, e.problem());
    }
  }
}

namespace {

const Described& describe_along(const std::string& name, std::vector<std::string> like);

void read_lists(Reader section, std::map<std::string, LayerList>& out) {
  for (const std::string& name : section.keys()) {
    Reader one = section.object(name);
    LayerList list;
    if (const Value* known = one.find("known")) {
      for (const Value& word : *known->as_array()) list.known.push_back(*word.as_string());
    }
    if (one.value().find("length") != nullptr) list.length = expression_of(*one.value().find("length"));
    out.insert_or_assign(name, std::move(list));
  }
}

// `like`: the families that led here.
// NOLINTNEXTLINE(misc-no-recursion): along `like`, in which no family comes twice
Described read_family(const std::string& name, std::vector<std::string> like) {
  const std::optional<Document> document = family_document(name);
  if (!document) throw InputError("data/families", "like", "there is no family '" + name + "'");
  if (is_own_family(name)) check_family(*document);
  Reader r(*document);
  Described out;
  if (r.has("like")) {
    const std::string other = r.text("like");
    like.push_back(name);
    if (std::ranges::find(like, other) != like.end())
      r.fail_at("like", like.size() == 1 ? "the family is like itself"
                                         : "the families " + list_words(like) + " are like each other");
    if (!is_family(other)) r.fail_at("like", "there is no family '" + other + "'");
    out = describe_along(other, std::move(like));
  }
  out.file = document->file;
  out.own = is_own_family(name);
  static_cast<void>(r.text_or("class", ""));
  static_cast<void>(r.text_or("source", ""));
  const auto members = [&](const char* key, std::map<std::string, Value>& into) {
    const Value* section = r.find(key);
    if (section == nullptr || section->as_object() == nullptr) return;
    for (const auto& [name_of_it, value] : *section->as_object()) into.insert_or_assign(name_of_it, value);
  };
  const auto list = [&](const char* key) {
    const Value* given = r.find(key);
    return given == nullptr || given->as_array() == nullptr ? Value::Array{} : *given->as_array();
  };
  members("defaults", out.defaults);
  members("parts", out.parts);
  if (const Value* names = r.find("names")) read_expressions(*names, out.names, out.file);
  if (const Value* model = r.find("model")) read_expressions(*model, out.model, out.file);
  if (const Value* block = r.find("block")) read_expressions(*block, out.block, out.file);
  if (auto section = r.object_if("lists")) read_lists(*section, out.lists);
  if (auto section = r.object_if("details")) read_detail_defaults(*section, out.details, out.numbers);
  if (r.has("stacks")) out.stacks = list("stacks");
  if (r.has("special")) {
    out.special.clear();
    for (const Value& part : list("special")) out.special.push_back(*part.as_string());
  }
  r.done();
  return out;
}

// Parsed once: a program that reads many configs would spend most of its time on the same few files. What is known stays
// where it is.
// NOLINTNEXTLINE(misc-no-recursion): along `like`, in which no family comes twice
const Described& describe_along(const std::string& name, std::vector<std::string> like) {
  static std::mutex mutex;
  static std::map<std::string, Described> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  Described made = read_family(name, std::move(like));
  const std::lock_guard lock(mutex);
  return known.try_emplace(name, std::move(made)).first->second;
}

}  // namespace

const Described& describe_family(const std::string& name) {
  return describe_along(name, {});
}

std::int64_t Fields::whole(const std::string& field, WholeRange range, std::int64_t fallback) {
  const Value v = value(field);
  if (v.is_null()) return fallback;
  if (const bool* flag = v.as_bool(); flag != nullptr && !*flag && range.least == 0) return 0;
  const double* real = v.as_real();
  const bool even = real != nullptr && *real == std::floor(*real) && std::abs(*real) < 1e15;
  if (v.as_int() == nullptr && !even)
    fail(field, "expected a whole number for " + field + ", found " + std::string(v.kind_name()), v);
  const std::int64_t n = even ? static_cast<std::int64_t>(*real) : *v.as_int();
  if (n < range.least || n > range.most) {
    fail(field,
         std::to_string(n) + " is outside " + std::to_string(range.least) + " to " +
             std::to_string(range.most) + " for " + field,
         v);
  }
  return n;
}

std::int64_t Fields::size(const std::string& field) {
  if (value(field).is_null()) fail(field, "nothing says how large " + field + " is");
  return whole(field, kSizeRange, 0);
}

bool Fields::flag(const std::string& field, bool fallback) {
  const Value v = value(field);
  return v.is_null() ? fallback : is_true(v);
}

std::optional<std::int64_t> Fields::shared_layer() {
  const Value v = value("shares");
  const Value& layer = own_.at("layer").value;
  if (v.is_null() || v == layer) return std::nullopt;
  return whole("shares", {0, *layer.as_int()}, 0);
}

std::string Fields::word(const std::string& field) {
  const Value v = value(field);
  if (v.as_string() == nullptr)
    fail(field, "expected a word for " + field + ", found " + std::string(v.kind_name()), v);
  return *v.as_string();
}

std::string Fields::word_or(const std::string& field, std::string fallback) {
  return value(field).is_null() ? std::move(fallback) : word(field);
}

std::vector<std::string> Fields::keys_of(const Expression& expression) const {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  std::vector<std::string> left = expression.paths();
  std::reverse(left.begin(), left.end());
  while (!left.empty()) {
    const std::string path = std::move(left.back());
    left.pop_back();
    const std::string name = path.substr(0, path.find('.'));
    if (!seen.insert(path).second) continue;
    const auto own = own_.find(name);
    if (own != own_.end()) {
      if (!own->second.made_of) continue;
      for (std::string& one : own->second.made_of->paths()) left.push_back(std::move(one));
      continue;
    }
    const auto named = family_.names.find(name);
    if (named == family_.names.end()) {
      keys.push_back(path);
      continue;
    }
    // A key of a group that has a name of its own: given.num_heads.
    const std::string rest = path.substr(name.size());
    std::vector<std::string> inner = named->second.paths();
    if (!rest.empty()) {
      for (std::string& one : inner) one += rest;
    }
    left.insert(left.end(), inner.rbegin(), inner.rend());
  }
  return keys;
}

void Fields::fail(const std::string& field, const std::string& what, const Value& found) {
  const auto at = section_.find(field);
  if (at != section_.end()) fail(at->second, what, found);
  r_.fail(what);
}

// At a key, also of a group inside.
void Fields::fail_at(std::string_view path, const std::string& what) const {
  Reader at = r_;
  while (true) {
    const std::string name(path.substr(0, path.find('.')));
    const Value* inner = at.value().find(name);
    if (name.size() == path.size() || inner == nullptr || inner->as_object() == nullptr)
      at.fail_at(name, what);
    at = at.object(name);
    path.remove_prefix(name.size() + 1);
  }
}

namespace {

const Value* value_at(const Value& group, std::string_view path) {
  const Value* at = &group;
  while (at != nullptr) {
    const std::string_view name = path.substr(0, path.find('.'));
    at = at->find(name);
    if (name.size() == path.size()) return at;
    path.remove_prefix(name.size() + 1);
  }
  return nullptr;
}

}  // namespace

void Fields::fail(const Expression& expression, const std::string& what, const Value& found) {
  const std::vector<std::string> keys = keys_of(expression);
  const auto blame = [&](auto&& guilty) {
    for (const std::string& path : keys) {
      const Value* given = value_at(r_.value(), path);
      if (given != nullptr && guilty(path, *given)) fail_at(path, what);
    }
  };
  if (!found.is_null()) blame([&](const std::string&, const Value& given) { return given == found; });
  // What is far beyond the sizes of models is to blame for what is made of it.
  blame([](const std::string&, const Value& given) {
    const std::int64_t* whole = given.as_int();
    return whole != nullptr && *whole > kSizeRange.most;
  });
  blame([&](const std::string& path, const Value& given) {
    const auto usual = family_.defaults.find(path.substr(0, path.find('.')));
    if (given.is_null() || given.as_object() != nullptr || usual == family_.defaults.end()) return false;
    const std::size_t dot = path.find('.');
    const Value* before = dot == std::string::npos
                              ? &usual->second
                              : value_at(usual->second, std::string_view(path).substr(dot + 1));
    return before != nullptr && !(*before == given);
  });
  blame([](const std::string&, const Value& given) { return !given.is_null(); });
  blame([](const std::string&, const Value&) { return true; });
  for (const std::string& path : keys) {
    const std::string group = path.substr(0, path.find('.'));
    if (r_.value().find(group) != nullptr) r_.fail_at(group, what, "it depends on " + path);
  }
  if (keys.empty() && family_.own) throw InputError(family_.file, "", what);
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named(keys.begin(),
                                 keys.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, keys.size())));
  r_.fail(what, named.empty() ? "" : "it depends on " + list_words(named));
}

Value Fields::value(const std::string& field) {
  const auto at = section_.find(field);
  return at == section_.end() ? Value() : evaluate(at->second);
}

// NOLINTNEXTLINE(misc-no-recursion): through names, which a file defines one by another
Value Fields::evaluate(const Expression& expression) {
  try {
    return expression.evaluate([&](const std::string& name) { return key(name); });
  } catch (const InputError& e) {
    if (!e.place().empty()) throw;
    fail(expression, e.what());
  }
}

// NOLINTNEXTLINE(misc-no-recursion): through names, which a file defines one by another
Value Fields::key(const std::string& name) {
  if (const auto own = own_.find(name); own != own_.end()) return own->second.value;
  if (const auto named = family_.names.find(name); named != family_.names.end()) {
    if (std::ranges::find(open_, name) != open_.end())
      throw InputError(family_.file, "names." + name, "'" + name + "' is defined by itself");
    open_.push_back(name);
    Value made = evaluate(named->second);
    open_.pop_back();
    return made;
  }
  static_cast<void>(r_.has(name));
  if (const Value* given = r_.value().find(name)) return *given;
  const auto at = family_.defaults.find(name);
  return at == family_.defaults.end() ? Value() : at->second;
}

}  // namespace nest::model
