#include "nest/frameworks/common/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace nest::frameworks {
namespace {

Path steps_of(std::string_view name) {
  Path path;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    path.emplace_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return path;
}

bool is_automatic(const Value& value) {
  return value.as_string() != nullptr && *value.as_string() == "auto";
}

void flatten(const Value& value, const std::string& name, std::vector<Flag>& out) {
  const Value::Object* members = value.as_object();
  if (members == nullptr) {
    out.push_back({name, {value.as_string() != nullptr ? *value.as_string() : to_json_line(value)}});
    return;
  }
  for (const auto& [key, inner] : *members)
    flatten(inner, name.empty() ? key : fmt::format("{}.{}", name, key), out);
}

}  // namespace

Settings::Settings(Document document) : document_(std::move(document)) {
  if (document_.root.as_object() == nullptr)
    throw InputError(document_.file, "", "settings are expected, each with its name");
}

const Value* Settings::at(std::string_view name) const {
  const Value* value = &document_.root;
  for (const std::string& step : steps_of(name)) {
    value = value->find(step);
    if (value == nullptr) return nullptr;
  }
  return value;
}

const Value* Settings::find(std::string_view name) const {
  const Value* value = at(name);
  return value == nullptr || value->is_null() || is_automatic(*value) ? nullptr : value;
}

bool Settings::automatic(std::string_view name) const {
  const Value* value = at(name);
  return value != nullptr && is_automatic(*value);
}

std::string Settings::place_of(std::string_view name) const {
  return fmt::format("line {}, {}", document_.line_of(steps_of(name)), name);
}

void Settings::fail(std::string_view name, const std::string& what) const {
  throw InputError(document_.file, place_of(name), what);
}

void Settings::warn(std::string_view name, const std::string& what, Warnings& warnings) const {
  warnings.push_back(fmt::format("{}: {}: {}", document_.file, place_of(name), what));
}

std::optional<std::int64_t> Settings::whole(std::string_view name, std::int64_t least) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  constexpr std::int64_t kMost = 1'000'000'000;
  std::optional<std::int64_t> number;
  if (value->as_int() != nullptr) number = *value->as_int();
  if (const std::string* word = value->as_string()) {
    std::int64_t read = 0;
    const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), read);
    if (error == std::errc() && end == word->data() + word->size()) number = read;
  }
  if (const double* real = value->as_real(); real != nullptr && *real >= 0 && *real <= 1e9) {
    const auto rounded = static_cast<std::int64_t>(*real);
    if (static_cast<double>(rounded) == *real) number = rounded;  // 5e8, as people write buckets
  }
  if (!number || *number < least || *number > kMost)
    fail(name, fmt::format("a whole number from {} on is expected, not {}", least, to_json_line(*value)));
  return number;
}

std::optional<std::string> Settings::text(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->as_string() != nullptr) return *value->as_string();
  if (value->as_int() != nullptr) return std::to_string(*value->as_int());
  if (value->as_bool() != nullptr) return *value->as_bool() ? "true" : "false";
  fail(name, fmt::format("a text is expected, not {}", value->kind_name()));
}

std::optional<bool> Settings::boolean(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->as_bool() != nullptr) return *value->as_bool();
  if (const std::string* word = value->as_string()) {
    std::string lower = *word;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (lower == "true" || lower == "yes") return true;
    if (lower == "false" || lower == "no") return false;
  }
  fail(name, fmt::format("true or false is expected, not {}", to_json_line(*value)));
}

std::vector<std::string> Settings::texts(std::string_view name) const {
  const Value* value = find(name);
  std::vector<std::string> out;
  if (value == nullptr) return out;
  if (value->as_array() == nullptr) fail(name, "a list of texts is expected");
  for (const Value& item : *value->as_array()) {
    if (item.as_string() == nullptr) fail(name, "a list of texts is expected");
    out.push_back(*item.as_string());
  }
  return out;
}

void Settings::warn_unknown(std::string_view section, const std::vector<std::string_view>& known,
                            Warnings& warnings) const {
  const Value* group = section.empty() ? &document_.root : find(section);
  if (group == nullptr || group->as_object() == nullptr) return;
  for (const auto& [key, value] : *group->as_object()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    warn(section.empty() ? key : fmt::format("{}.{}", section, key),
         "it is not understood: the plan does not have it", warnings);
  }
}

std::vector<Flag> flat_settings(const Value& root) {
  std::vector<Flag> out;
  flatten(root, "", out);
  return out;
}

}  // namespace nest::frameworks
