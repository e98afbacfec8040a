// Nodes of the search tree, and the heap from which they are taken: the best bound (of the step, or of what
// it costs) first or, if the fewest devices are sought, fewer devices first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nest/question/search_options.hpp"
#include "nest/solve/tree/evaluator.hpp"

namespace nest::solve {

struct SearchNode {
  // What is fixed, besides everything that is fixed in those before it.
  enum class Kind { degrees, schedule, zero, placement, fill };

  Seconds bound;
  std::int64_t devices = 0;
  // What one second of the step counts: 1 or, with Objective::cost, the devices that are rented at least, and
  // exactly those once it is placed.
  double weight = 1;
  std::int64_t number = 0;  // in the order in which nodes were made
  Kind kind = Kind::degrees;
  ShardKind shards = ShardKind::any;
  Configuration configuration;
  TieQuestion ties;
  std::shared_ptr<const std::vector<Placement>> placements;
  std::size_t placement = 0;
  std::int32_t put_off = 0;  // how often its table took too much work

  // No plan below is better, in what the objective counts.
  [[nodiscard]] Seconds value() const { return bound * weight; }
  // Where plans come from soon: nothing but placements and stages is open.
  [[nodiscard]] bool deep() const { return kind == Kind::placement || (kind == Kind::fill && put_off == 0); }
};

struct TakenLater {
  Objective objective = Objective::step_time;
  bool operator()(const SearchNode& a, const SearchNode& b) const {
    if (objective == Objective::devices && a.devices != b.devices) return a.devices > b.devices;
    return a.value() != b.value() ? a.value() > b.value() : a.number > b.number;
  }
};

// A heap that can be looked through.
class NodeQueue {
 public:
  explicit NodeQueue(TakenLater later) : later_(later) {}

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const SearchNode& first() const { return nodes_.front(); }
  [[nodiscard]] const std::vector<SearchNode>& all() const { return nodes_; }
  void push(SearchNode node) {
    nodes_.push_back(std::move(node));
    std::push_heap(nodes_.begin(), nodes_.end(), later_);
  }
  [[nodiscard]] SearchNode pop() {
    std::pop_heap(nodes_.begin(), nodes_.end(), later_);
    SearchNode node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  TakenLater later_;
  std::vector<SearchNode> nodes_;
};

}  // namespace nest::solve
