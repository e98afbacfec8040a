// What a file of data/families says, and its fields for one config.json: every expression is evaluated where somebody
// asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/model/hub/expression.hpp"
#include "nest/model/hub/hub_details.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {

// A list of the config that has one entry for each layer.
struct LayerList {
  std::vector<std::string> known;    // words that entries are; none: they are no words
  std::optional<Expression> length;  // where it is not that of the layers; null: any
};

// A file with what it takes over from the one that it is like.
struct Described {
  using Section = std::map<std::string, Expression>;
  std::string file = "data/families";  // for messages
  bool own = false;                    // of the folder that NEST_FAMILIES names
  std::map<std::string, Value> defaults;
  Section names;  // for expressions of this file
  Section model;
  Section block;
  std::map<std::string, LayerList> lists;
  std::map<std::string, Value> parts;  // lists of steps
  std::vector<Value> stacks;           // where there are several
  DetailDefaults details;
  Section numbers;  // of detail_numbers()
  std::vector<std::string> special;
};

[[nodiscard]] const Described& describe_family(const std::string& name);

// The entries of a section, over those that are there; `file` is for messages.
void read_expressions(const Value& section, Described::Section& out, const std::string& file);
[[nodiscard]] Expression expression_of(const Value& v);

class Fields {
 public:
  Fields(Reader& r, const Described& family, const Described::Section& section)
      : r_(r), family_(family), section_(section) {}

  void set_layer(std::int64_t layer) { set_name("layer", layer); }
  // A name that the config does not have, such as the width of another stack, and what it was made of.
  void set_name(const std::string& name, Value value, std::optional<Expression> made_of = std::nullopt) {
    own_[name] = {std::move(value), std::move(made_of)};
  }
  [[nodiscard]] const Described& family() const { return family_; }

  [[nodiscard]] bool has(const std::string& field) const { return section_.contains(field); }
  [[nodiscard]] std::int64_t whole(const std::string& field, WholeRange range, std::int64_t fallback);
  [[nodiscard]] std::int64_t size(const std::string& field);
  [[nodiscard]] std::int64_t count(const std::string& field) { return whole(field, {0, kSizeRange.most}, 0); }
  [[nodiscard]] bool flag(const std::string& field, bool fallback = false);
  // The earlier layer that the field `shares` names, null where the layer has weights of its own.
  [[nodiscard]] std::optional<std::int64_t> shared_layer();
  [[nodiscard]] std::string word(const std::string& field);
  [[nodiscard]] std::string word_or(const std::string& field, std::string fallback);
  // Of an expression that is no field.
  [[nodiscard]] Value evaluate(const Expression& expression);

  // At the key of the file that is to blame, as far as that can be told: one that has the value that was found, else
  // one that the family has another value for, else the first that the expression depends on.
  [[noreturn]] void fail(const std::string& field, const std::string& what, const Value& found = {});
  [[noreturn]] void fail(const Expression& expression, const std::string& what, const Value& found = {});

 private:
  Value value(const std::string& field);
  Value key(const std::string& name);
  [[noreturn]] void fail_at(std::string_view path, const std::string& what) const;
  // What a config may say that the expression depends on, also through names of the family.
  [[nodiscard]] std::vector<std::string> keys_of(const Expression& expression) const;

  Reader& r_;
  const Described& family_;
  const Described::Section& section_;
  struct Own {
    Value value;
    std::optional<Expression> made_of;
  };
  std::map<std::string, Own> own_;
  std::vector<std::string> open_;  // names that are being evaluated, each by the one before it
};

}  // namespace nest::model
