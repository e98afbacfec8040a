// For operators in an order in which they can run: the nearest earlier one through which all that comes in goes. Found
// in logarithmic time, so that chains of any length are read at once.
//
//   Dominators tree(ops);
//   tree.set(i, tree.common(a, b));    // what i reads is made by a and b
#pragma once

#include <cstddef>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::model {

class Dominators {
 public:
  static constexpr std::size_t kRoot =
      static_cast<std::size_t>(-1);  // what comes in, which no operator makes

  explicit Dominators(std::size_t operators);

  // Of an operator below which nothing was set yet.
  void set(std::size_t op, std::size_t above);
  [[nodiscard]] std::size_t above(std::size_t op) const { return outer(nodes_[op + 1].above); }
  // The nearest one that both lie below of, or that one of them is.
  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b) const;

 private:
  // Node 0 is the root, and operator i node i + 1.
  struct Node {
    std::size_t depth = 0;
    std::size_t above = 0;
    std::size_t jump = 0;  // a node further up, at distances that double
  };
  [[nodiscard]] static std::size_t outer(std::size_t node) { return node == 0 ? kRoot : node - 1; }
  [[nodiscard]] static std::size_t inner(std::size_t op) { return op == kRoot ? 0 : op + 1; }

  std::vector<Node> nodes_;
};

}  // namespace nest::model
