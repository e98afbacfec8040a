#include "nest/cluster/imports/json_facts.hpp"

#include <cstdint>

#include "nest/base/error.hpp"

namespace nest::cluster {

const Value* member(const Value& value, std::initializer_list<std::string_view> way) {
  const Value* at = &value;
  for (const std::string_view key : way) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_of(const Value* value) {
  if (value == nullptr) return "";
  if (const std::string* text = value->as_string()) return *text;
  if (const std::int64_t* number = value->as_int()) return std::to_string(*number);
  return "";
}

std::string text_of(const Value& value, std::initializer_list<std::string_view> way) {
  return text_of(member(value, way));
}

std::vector<Entry> entries_of(const Document& document, std::initializer_list<std::string_view> keys) {
  const Value* list = &document.root;
  Path path;
  for (const std::string_view key : keys) {
    const Value* own = document.root.find(key);
    if (own == nullptr || own->as_array() == nullptr) continue;
    list = own;
    path.emplace_back(key);
    break;
  }
  std::vector<Entry> out;
  if (list->as_array() == nullptr) {
    out.push_back({list, std::move(path)});
    return out;
  }
  for (std::size_t i = 0; i < list->as_array()->size(); ++i) {
    Path own = path;
    own.push_back(std::to_string(i));
    out.push_back({&(*list->as_array())[i], std::move(own)});
  }
  return out;
}

void fail_entry(const Document& document, const Entry& entry, const std::string& what,
                const std::string& hint) {
  const std::string place = spell(entry.path);
  throw InputError(
      document.file,
      "line " + std::to_string(document.line_of(entry.path)) + (place.empty() ? "" : ", " + place), what,
      hint);
}

bool has_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::size_t end = at + key.size();
    if (end < text.size() && text[end] == '"') ++end;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\n' || text[end] == '\r')) ++end;
    if (end < text.size() && text[end] == ':') return true;
  }
  return false;
}

}  // namespace nest::cluster
