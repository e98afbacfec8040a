#include "nest/base/document/reader.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/mismatch.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
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
  if (const std::string* s = v.as_string()) return plain(key, *s);
  fail_at(key, "a text is expected, not " + quoted(v));
}

std::string Reader::plain(const std::string& key, std::string text) const {
  if (has_control(text)) fail_at(key, "a text without control characters is expected");
  return text;
}

std::string Reader::prose_or(const std::string& key, std::string fallback) {
  const Value* v = find(key);
  if (v == nullptr || v->as_string() == nullptr) return text_or(key, std::move(fallback));
  std::string prose;
  for (const char c : *v->as_string()) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!space) prose += c;
    if (space && !prose.empty() && prose.back() != ' ') prose += ' ';
  }
  if (prose.ends_with(' ')) prose.pop_back();
  return plain(key, std::move(prose));
}

std::string Reader::text_or(const std::string& key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}

std::int64_t Reader::whole_value(const Value& value, const Path& path, WholeRange range) const {
  const std::optional<std::int64_t> v = exact_whole(value);
  const double* real = value.as_real();
  const bool beyond = !v && real != nullptr && *real == std::floor(*real);
  if (!v && !beyond) {
    const std::string* s = value.as_string();
    const Mismatch m = mismatch("a whole number", value, s != nullptr && number_in<std::int64_t>(*s));
    fail_path(path, m.what, m.hint);
  }
  if (beyond || *v < range.least || *v > range.most) {
    fail_path(path,
              as_written(*document_, path, value) + " is outside " + format_digits(range.least) + " to " +
                  format_digits(range.most),
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
  const std::string* s = v.as_string();
  const Mismatch m = mismatch("a number", v, s != nullptr && number_in<double>(*s));
  fail_at(key, m.what, m.hint);
}

double Reader::number_or(const std::string& key, double fallback) {
  return has(key) ? number(key) : fallback;
}

bool Reader::boolean_or(const std::string& key, bool fallback) {
  const Value* v = find(key);
  if (v == nullptr) return fallback;
  if (const bool* b = v->as_bool()) return *b;
  const std::string* s = v->as_string();
  const bool would_fit = s != nullptr && (*s == "true" || *s == "false");
  const Mismatch m = mismatch("true or false", *v, would_fit);
  fail_at(key, m.what, m.hint);
}

double Reader::quantity(const std::string& key, UnitKind kind, std::string_view noun) {
  const Value& v = need(key, noun);
  const std::string text = is_number(v) ? to_json_line(v) : v.as_string() != nullptr ? *v.as_string() : "";
  const std::optional<double> parsed = parse_quantity(text, kind);
  if (!parsed) fail_at(key, quoted(v) + " is not " + std::string(noun), unit_hint(text, kind));
  if (*parsed < 0) fail_at(key, quoted(v) + " is negative");
  return *parsed;
}

Bytes Reader::bytes(const std::string& key) {
  const double bytes = quantity(key, UnitKind::bytes, "a size in bytes");
  if (bytes > kMostBytes) fail_at(key, quoted(*find(key)) + " is larger than any memory");
  return round_up_bytes(bytes);
}
Seconds Reader::time(const std::string& key) {
  return Seconds{quantity(key, UnitKind::time, "a time")};
}
BytesPerSecond Reader::bandwidth(const std::string& key) {
  return BytesPerSecond{quantity(key, UnitKind::bandwidth, "a bandwidth")};
}
Watts Reader::power(const std::string& key) {
  return Watts{quantity(key, UnitKind::power, "a power")};
}

FlopsPerSecond Reader::compute_rate(const std::string& key) {
  return FlopsPerSecond{quantity(key, UnitKind::compute_rate, "a compute rate")};
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

std::vector<double> Reader::numbers(const std::string& key) {
  const Value& v = need(key, "a list of numbers");
  const Value::Array* items = v.as_array();
  if (items == nullptr) fail_at(key, "a list of numbers is expected, not " + quoted(v));
  std::vector<double> out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    Path at = below(key);
    at.push_back(std::to_string(i));
    if (item.as_int() == nullptr && item.as_real() == nullptr)
      fail_path(at, "a number is expected, not " + quoted(item), "");
    out.push_back(item.as_real() != nullptr ? *item.as_real() : static_cast<double>(*item.as_int()));
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
  if (!knows(key)) known_.push_back(key);
}

void Reader::done() const {
  for (const auto& [key, ignored] : *value_->as_object()) {
    if (knows(key)) continue;
    std::string hint = is_digits(key) ? comma_hint(*value_->as_object(), key) : did_you_mean(key, known_);
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
  constexpr std::size_t kLong = 10;  // among short keys two edits make another one: num_beams, num_heads
  constexpr int kMostUnknown = 200;  // such a file is not misspelt but something else
  const std::unordered_set<std::string> known(known_.begin(), known_.end());
  int unknown = 0;
  for (const auto& [key, ignored] : *value_->as_object()) {
    if (known.contains(key)) continue;
    if (++unknown > kMostUnknown) return;
    const std::optional<std::string> guess = closest(key, known_);
    if (!guess || edit_distance(key, *guess) > (key.size() < kLong ? 1 : 2)) continue;
    const bool given = value_->find(*guess) != nullptr;
    warnings.push_back(place_of(key) + "the key '" + printable(key) +
                       "' is not known and was passed over; did you mean '" + *guess +
                       (given ? "', which is given too?" : "'?"));
  }
}

bool Reader::knows(const std::string& key) const {
  return std::find(known_.begin(), known_.end(), key) != known_.end();
}

std::string Reader::place_of(const std::string& key) const {
  return document_->file + ": line " + std::to_string(document_->line_of(below(key))) + ": ";
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

}  // namespace nest::base
