#include "nest/model/onnx/dominators.hpp"

#include <utility>

namespace nest::model {

Dominators::Dominators(std::size_t operators) : nodes_(operators + 1) {}

void Dominators::set(std::size_t op, std::size_t above) {
  Node& node = nodes_[inner(op)];
  node.above = inner(above);
  const Node& parent = nodes_[node.above];
  node.depth = parent.depth + 1;
  const Node& jump = nodes_[parent.jump];
  // Two jumps of equal length become one of twice the length.
  const bool equal = parent.depth - jump.depth == jump.depth - nodes_[jump.jump].depth;
  node.jump = equal ? jump.jump : node.above;
}

std::size_t Dominators::common(std::size_t a, std::size_t b) const {
  std::size_t low = inner(a);
  std::size_t high = inner(b);
  if (nodes_[low].depth < nodes_[high].depth) std::swap(low, high);
  while (nodes_[low].depth > nodes_[high].depth) {
    const Node& node = nodes_[low];
    low = nodes_[node.jump].depth >= nodes_[high].depth ? node.jump : node.above;
  }
  while (low != high) {
    const bool far = nodes_[low].jump != nodes_[high].jump;
    low = far ? nodes_[low].jump : nodes_[low].above;
    high = far ? nodes_[high].jump : nodes_[high].above;
  }
  return outer(low);
}

}  // namespace nest::model
