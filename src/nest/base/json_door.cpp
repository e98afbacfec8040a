// The only file that sees nlohmann/json: JSON text to Value, iteratively, so that deep nesting cannot exhaust the stack.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document.hpp"
#include "nest/base/error.hpp"

namespace nest {
namespace {

constexpr std::size_t kDeepest = 128;

class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  Value take() { return std::move(root_); }

  bool null() override { return add(Value()); }
  bool boolean(bool v) override { return add(Value(v)); }
  bool number_integer(number_integer_t v) override { return add(Value(static_cast<std::int64_t>(v))); }
  bool number_unsigned(number_unsigned_t v) override {
    const bool fits = v <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return add(fits ? Value(static_cast<std::int64_t>(v)) : Value(static_cast<double>(v)));
  }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return add(Value(v)); }
  bool string(string_t& v) override { return add(Value(std::move(v))); }
  bool binary(binary_t& /*v*/) override { return false; }
  bool start_object(std::size_t /*n*/) override { return open(Value::object()); }
  bool start_array(std::size_t /*n*/) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& v) override {
    if (open_.back().find(v) != nullptr) {
      throw InputError(file_, spell(keys_), "the key '" + v + "' is given twice");
    }
    keys_.back() = std::move(v);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    const std::size_t end = std::min(position, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while ...; ..."
    std::string cause = error.what();
    const std::size_t colon = cause.find(": ");
    if (colon != std::string::npos) cause = cause.substr(colon + 2);
    throw InputError(file_, "line " + std::to_string(line), "not valid JSON: " + cause);
  }

 private:
  bool open(Value container) {
    if (open_.size() >= kDeepest) throw InputError(file_, "", "nested more than 128 deep");
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Value done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }

  bool add(Value v) {
    if (open_.empty()) {
      root_ = std::move(v);
    } else if (open_.back().as_array() != nullptr) {
      open_.back().push(std::move(v));
    } else {
      open_.back().set(keys_.back(), std::move(v));
    }
    return true;
  }

  const std::string& file_;
  const std::string& text_;
  Value root_;
  std::vector<Value> open_;
  Path keys_;
};

}  // namespace

Document parse_json(std::string file, std::string text) {
  Document document{std::move(file), std::move(text), Value(), true};
  if (document.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(document.file, "", "the file is empty");
  }
  Builder builder(document.file, document.text);
  nlohmann::json::sax_parse(document.text, &builder);
  document.root = builder.take();
  return document;
}

}  // namespace nest
