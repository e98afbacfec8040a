#include "nest/base/reader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/base/closest.hpp"

namespace nest {
namespace {

std::string quoted(const Value& value) {
  constexpr std::size_t kLongest = 40;
  std::string s = value.as_string() != nullptr ? *value.as_string() : to_json(value, false);
  if (s.size() > kLongest) {
    std::size_t end = kLongest - 3;
    while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xC0U) == 0x80U)
      --end;  // never inside a character
    s = s.substr(0, end) + "...";
  }
  return "'" + s + "'";
}

std::optional<std::int64_t> exact_whole(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return *i;
  const double* d = value.as_real();
  constexpr double kExact = 9e15;
  if (d != nullptr && std::abs(*d) < kExact && *d == std::floor(*d)) return static_cast<std::int64_t>(*d);
  return std::nullopt;
}

}  // namespace

Reader::Reader(const Document& document) : Reader(document, document.root, {}) {}

Reader::Reader(const Document& document, const Value& value, Path path)
    : document_(&document), value_(&value), path_(std::move(path)) {
  if (value.as_object() == nullptr) {
    fail_path(path_, "a group of keys is expected here, not " + std::string(value.kind_name()), "");
  }
}

bool Reader::has(const std::string& key) {
  return find(key) != nullptr;
}

const Value* Reader::find(const std::string& key) {
  remember(key);
  const Value* v = value_->find(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

const Value& Reader::need(const std::string& key, std::string_view expected) {
  if (const Value* v = find(key)) return *v;
  // A missing key is most often a misspelt one: look for the near miss before complaining of absence.
  std::vector<std::string> present;
  for (const auto& member : *value_->as_object()) present.push_back(member.first);
  const std::optional<std::string> near = closest(key, present);
  const bool near_is_unknown = near && std::find(known_.begin(), known_.end(), *near) == known_.end();
  if (near_is_unknown) refuse_key(*near, "did you mean '" + key + "'?");
  fail("the key '" + key + "' is missing", "it holds " + std::string(expected));
}

std::string Reader::text(const std::string& key) {
  const Value& v = need(key, "a text");
  if (const std::string* s = v.as_string()) return *s;
  fail_at(key, "a text is expected, not " + quoted(v));
}

std::string Reader::text_or(const std::string& key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}

std::int64_t Reader::whole_value(const Value& value, const Path& path, WholeRange range) const {
  const std::optional<std::int64_t> v = exact_whole(value);
  if (!v) fail_path(path, "a whole number is expected, not " + quoted(value), "");
  if (*v < range.least || *v > range.most) {
    fail_path(path,
              std::to_string(*v) + " is outside " + std::to_string(range.least) + " to " +
                  std::to_string(range.most),
              "");
  }
  return *v;
}

std::int64_t Reader::whole(const std::string& key, WholeRange range) {
  return whole_value(need(key, "a whole number"), below(key), range);
}

std::int64_t Reader::whole_or(const std::string& key, std::int64_t fallback, WholeRange range) {
  return has(key) ? whole(key, range) : fallback;
}

double Reader::number(const std::string& key) {
  const Value& v = need(key, "a number");
  if (const std::int64_t* i = v.as_int()) return static_cast<double>(*i);
  if (const double* d = v.as_real()) return *d;
  fail_at(key, "a number is expected, not " + quoted(v));
}

double Reader::number_or(const std::string& key, double fallback) {
  return has(key) ? number(key) : fallback;
}

bool Reader::boolean_or(const std::string& key, bool fallback) {
  const Value* v = find(key);
  if (v == nullptr) return fallback;
  if (const bool* b = v->as_bool()) return *b;
  fail_at(key, "true or false is expected, not " + quoted(*v));
}

template <class T>
T Reader::quantity(const std::string& key, std::optional<T> (*parse)(std::string_view), UnitFamily family,
                   std::string_view noun) {
  const Value& v = need(key, noun);
  const bool number = v.as_int() != nullptr || v.as_real() != nullptr;
  const std::string text = number ? to_json(v, false) : v.as_string() != nullptr ? *v.as_string() : "";
  const std::optional<T> parsed = parse(text);
  if (!parsed) fail_at(key, quoted(v) + " is not " + std::string(noun), unit_hint(text, family));
  if (parsed->value < 0) fail_at(key, quoted(v) + " is negative");
  return *parsed;
}

Bytes Reader::bytes(const std::string& key) {
  return quantity<Bytes>(key, &parse_bytes, UnitFamily::bytes, "a size in bytes");
}
Seconds Reader::time(const std::string& key) {
  return quantity<Seconds>(key, &parse_time, UnitFamily::time, "a time");
}
BytesPerSecond Reader::bandwidth(const std::string& key) {
  return quantity<BytesPerSecond>(key, &parse_bandwidth, UnitFamily::bandwidth, "a bandwidth");
}
FlopsPerSecond Reader::compute_rate(const std::string& key) {
  return quantity<FlopsPerSecond>(key, &parse_compute_rate, UnitFamily::compute_rate, "a compute rate");
}

std::string Reader::choice(const std::string& key, std::span<const std::string> allowed) {
  const std::string word = text(key);
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) return word;
  std::string list;
  for (const std::string& a : allowed) list += (list.empty() ? "" : ", ") + a;
  const std::string guess = did_you_mean(word, allowed);
  fail_at(key, "'" + word + "' is none of " + list, guess);
}

std::vector<std::int64_t> Reader::wholes(const std::string& key, WholeRange range) {
  const Value& v = need(key, "a list of whole numbers");
  const Value::Array* items = v.as_array();
  if (items == nullptr) fail_at(key, "a list of whole numbers is expected, not " + quoted(v));
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    Path at = below(key);
    at.push_back(std::to_string(i));
    out.push_back(whole_value((*items)[i], at, range));
  }
  return out;
}

std::vector<bool> Reader::booleans(const std::string& key) {
  const Value& v = need(key, "a list of true and false");
  const Value::Array* items = v.as_array();
  if (items == nullptr) fail_at(key, "a list of true and false is expected, not " + quoted(v));
  std::vector<bool> out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const bool* b = (*items)[i].as_bool();
    Path at = below(key);
    at.push_back(std::to_string(i));
    if (b == nullptr) fail_path(at, "true or false is expected, not " + quoted((*items)[i]), "");
    out.push_back(*b);
  }
  return out;
}

Reader Reader::object(const std::string& key) {
  return {*document_, need(key, "a group of keys"), below(key)};
}

std::optional<Reader> Reader::object_if(const std::string& key) {
  if (!has(key)) return std::nullopt;
  return object(key);
}

std::vector<Reader> Reader::objects(const std::string& key) {
  const Value& v = need(key, "a list");
  const Value::Array* items = v.as_array();
  if (items == nullptr) fail_at(key, "a list is expected, not " + std::string(v.kind_name()));
  std::vector<Reader> out;
  out.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    Path at = below(key);
    at.push_back(std::to_string(i));
    out.push_back(Reader(*document_, (*items)[i], std::move(at)));
  }
  return out;
}

std::vector<std::string> Reader::keys() {
  std::vector<std::string> out;
  for (const auto& member : *value_->as_object()) out.push_back(member.first);
  known_ = out;
  return out;
}

void Reader::remember(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
}

void Reader::done() const {
  for (const auto& [key, ignored] : *value_->as_object()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string hint = did_you_mean(key, known_);
    if (hint.empty()) {
      hint = "known here:";
      for (const std::string& k : known_) hint += (k == known_.front() ? " " : ", ") + k;
    }
    refuse_key(key, hint);
  }
}

void Reader::refuse_key(const std::string& key, const std::string& hint) const {
  const std::string line = "line " + std::to_string(document_->line_of(below(key)));
  throw InputError(document_->file, line + (path_.empty() ? "" : ", " + spell(path_)),
                   "unknown key '" + key + "'", hint);
}

void Reader::warn_unknown(Warnings& warnings) const {
  for (const auto& [key, ignored] : *value_->as_object()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::vector<std::string> absent;
    for (const std::string& k : known_) {
      if (value_->find(k) == nullptr) absent.push_back(k);
    }
    constexpr int kNear = 2;
    const std::optional<std::string> guess = closest(key, absent);
    if (!guess || edit_distance(key, *guess) > kNear) continue;
    warnings.push_back(document_->file + ": line " + std::to_string(document_->line_of(below(key))) +
                       ": the key '" + key + "' is not known and was passed over; did you mean '" + *guess +
                       "'?");
  }
}

void Reader::fail(const std::string& what, const std::string& hint) const {
  fail_path(path_, what, hint);
}

void Reader::fail_at(const std::string& key, const std::string& what, const std::string& hint) const {
  fail_path(below(key), what, hint);
}

Path Reader::below(const std::string& key) const {
  Path p = path_;
  p.push_back(key);
  return p;
}

void Reader::fail_path(const Path& path, const std::string& what, const std::string& hint) const {
  const std::string place =
      "line " + std::to_string(document_->line_of(path)) + (path.empty() ? "" : ", " + spell(path));
  throw InputError(document_->file, place, what, hint);
}

}  // namespace nest
