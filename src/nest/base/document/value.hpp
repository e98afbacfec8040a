// A tree of plain values: what a JSON or YAML file holds, and what a program writes out as JSON. Objects keep
// the order of their keys. Values read from YAML know their line; for JSON the line is found again from the
// text.
//
//   Value out = Value::object();
//   out.set("name", "llama3.1-8b").set("parameters", std::int64_t{8030261248});
//   to_json(out)  ->  {"name": "llama3.1-8b", "parameters": 8030261248}
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

class Value {
 public:
  using Array = std::vector<Value>;
  using Member = std::pair<std::string, Value>;
  using Object = std::vector<Member>;

  Value() = default;
  Value(std::nullptr_t) {}                              // NOLINT(google-explicit-constructor)
  Value(std::same_as<bool> auto v) : data_(v) {}        // NOLINT(google-explicit-constructor)
  Value(double v) : data_(v) {}                         // NOLINT(google-explicit-constructor)
  Value(std::string v) : data_(std::move(v)) {}         // NOLINT(google-explicit-constructor)
  Value(std::string_view v) : data_(std::string(v)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* v) : data_(std::string(v)) {}       // NOLINT(google-explicit-constructor)
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Value(I v) : data_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] static Value array() { return Value(Array{}); }
  [[nodiscard]] static Value object() { return Value(Object{}); }

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] const bool* as_bool() const { return std::get_if<bool>(&data_); }
  [[nodiscard]] const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&data_); }
  [[nodiscard]] const double* as_real() const { return std::get_if<double>(&data_); }
  [[nodiscard]] const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const Array* as_array() const { return std::get_if<Array>(&data_); }
  [[nodiscard]] const Object* as_object() const { return std::get_if<Object>(&data_); }
  [[nodiscard]] Array* as_array() { return std::get_if<Array>(&data_); }
  [[nodiscard]] Object* as_object() { return std::get_if<Object>(&data_); }

  // The member with that key, or nullptr (also where this is no object).
  [[nodiscard]] const Value* find(std::string_view key) const;

  // Building: set appends to an object (the caller does not repeat keys), push appends to an array.
  Value& set(std::string key, Value value);
  Value& push(Value value);

  // "a number", "a list", ...: for error messages.
  [[nodiscard]] std::string_view kind_name() const;

  [[nodiscard]] int line() const { return line_; }
  void set_line(int line) { line_ = line; }

  bool operator==(const Value& other) const { return data_ == other.data_; }

 private:
  explicit Value(Array v) : data_(std::move(v)) {}
  explicit Value(Object v) : data_(std::move(v)) {}

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
  int line_ = 0;
};

// JSON text. Numbers are the shortest that read back the same; lists of scalars stay on one line. With pretty
// false everything is on one line. Not-a-number and infinities, which JSON lacks, become null.
[[nodiscard]] std::string to_json(const Value& value);
[[nodiscard]] std::string to_json_line(const Value& value);  // all on one line

}  // namespace nest::base
