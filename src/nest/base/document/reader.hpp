// Reads one object of a document key by key, checks every value, and at the end refuses the keys nobody asked
// for. All messages carry file, line, place and a guess at what was meant:
//
//   Reader r(document);
//   const std::string name = r.text("name");
//   const BytesPerSecond rate = r.bandwidth("bandwidth");
//   r.done();   // throws: "x.yaml: line 3: unknown key 'latancy'; did you mean 'latency'?"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/base/units.hpp"

namespace nest::base {

struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = 1'000'000'000'000;
};

class Reader {
 public:
  explicit Reader(const Document& document);  // the root, which must be a group of keys

  // Present and not null.
  [[nodiscard]] bool has(const std::string& key);
  [[nodiscard]] const Value* find(const std::string& key);

  // Texts go into tables: control characters are refused.
  [[nodiscard]] std::string text(const std::string& key);
  [[nodiscard]] std::string text_or(const std::string& key, std::string fallback);
  // Remarks of several lines: their line ends become spaces.
  [[nodiscard]] std::string prose_or(const std::string& key, std::string fallback);
  [[nodiscard]] std::int64_t whole(const std::string& key, WholeRange range = {});
  [[nodiscard]] std::int64_t whole_or(const std::string& key, std::int64_t fallback, WholeRange range = {});
  [[nodiscard]] double number(const std::string& key);
  [[nodiscard]] double number_or(const std::string& key, double fallback);
  [[nodiscard]] bool boolean_or(const std::string& key, bool fallback);
  [[nodiscard]] Bytes bytes(const std::string& key);
  [[nodiscard]] Seconds time(const std::string& key);
  [[nodiscard]] BytesPerSecond bandwidth(const std::string& key);
  [[nodiscard]] FlopsPerSecond compute_rate(const std::string& key);
  [[nodiscard]] Watts power(const std::string& key);
  // One of the given words; anything else names them.
  [[nodiscard]] std::string choice(const std::string& key, std::span<const std::string> allowed);
  [[nodiscard]] std::vector<std::int64_t> wholes(const std::string& key, WholeRange range = {});
  [[nodiscard]] std::vector<double> numbers(const std::string& key);
  [[nodiscard]] std::vector<bool> booleans(const std::string& key);

  [[nodiscard]] Reader object(const std::string& key);
  [[nodiscard]] std::optional<Reader> object_if(const std::string& key);
  // A list of groups of keys.
  [[nodiscard]] std::vector<Reader> objects(const std::string& key);
  // All keys of this object in order, marked as known (for objects whose keys are names).
  [[nodiscard]] std::vector<std::string> keys();

  // Throws on a key that was never asked for.
  void done() const;
  // For formats that allow other keys: a warning for each unknown key that is close to a known one. After
  // 200 unknown keys the rest is passed over.
  void warn_unknown(Warnings& warnings) const;
  // Whether a key was asked for.
  [[nodiscard]] bool knows(const std::string& key) const;
  // "x.json: line 3: ": where a key is, for a warning.
  [[nodiscard]] std::string place_of(const std::string& key) const;

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void fail_at(const std::string& key, const std::string& what,
                            const std::string& hint = {}) const;

  [[nodiscard]] const Value& value() const { return *value_; }
  [[nodiscard]] const Document& document() const { return *document_; }
  [[nodiscard]] const Path& path() const { return path_; }

 private:
  Reader(const Document& document, const Value& value, Path path);

  const Value& need(const std::string& key, std::string_view expected);
  void remember(const std::string& key);
  double quantity(const std::string& key, UnitKind kind, std::string_view noun);
  std::string plain(const std::string& key, std::string text) const;
  [[noreturn]] void refuse_key(const std::string& key, const std::string& hint) const;
  [[nodiscard]] Path below(const std::string& key) const;
  [[noreturn]] void fail_path(const Path& path, const std::string& what, const std::string& hint) const;
  std::int64_t whole_value(const Value& value, const Path& path, WholeRange range) const;

  const Document* document_;
  const Value* value_;
  Path path_;
  std::vector<std::string> known_;
};

}  // namespace nest::base
