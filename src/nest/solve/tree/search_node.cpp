#include "nest/solve/tree/search_node.hpp"

#include <algorithm>
#include <utility>

namespace nest::solve {

void NodeQueue::push(SearchNode node) {
  nodes_.push_back(std::move(node));
  std::push_heap(nodes_.begin(), nodes_.end(), later_);
}

SearchNode NodeQueue::pop() {
  std::pop_heap(nodes_.begin(), nodes_.end(), later_);
  SearchNode node = std::move(nodes_.back());
  nodes_.pop_back();
  return node;
}

}  // namespace nest::solve
