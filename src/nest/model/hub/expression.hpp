// Expressions over the keys of a config.json, in which data/families describes model types:
//
//   head_dim ?? hidden_size / num_attention_heads
//   layer in mlp_only_layers ? 0 : num_experts
//
// Values are JSON's. From weak to strong: c ? a : b, a ?? b (b where a is null), ||, &&, comparisons and `in`, + -, * / // %,
// ! and -, list[index] and group.key. There are lists ['a', 'b'] and len, sum, count(list, value), min, max and root. `/` must come out even between whole numbers; `//` rounds down.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"

namespace nest::model {

class Expression {
 public:
  // What a name stands for; null where nothing has it.
  using Names = std::function<Value(const std::string&)>;

  // Throws an InputError that quotes the text where it is no expression.
  [[nodiscard]] static Expression parse(std::string_view text);

  // Throws an InputError that quotes the part that has no value.
  [[nodiscard]] Value evaluate(const Names& names) const;

  // All names in it, in order.
  [[nodiscard]] std::vector<std::string> names() const;
  // The same with the keys of groups: "text_config.hidden_size".
  [[nodiscard]] std::vector<std::string> paths() const;

  struct Node;

 private:
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

// Null, false, 0 and empty texts and lists are false.
[[nodiscard]] bool is_true(const Value& value);

}  // namespace nest::model
