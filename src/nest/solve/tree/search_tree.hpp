// The outer enumeration: degrees, their schedules, ZeRO and placements, in the order of
// their bounds. No plan below a node is faster than its bound, and a node whose bound exceeds the best
// plan is never opened.
//
// Nodes are taken in rounds of a fixed number, whatever the number of threads, and what a round finds is
// taken in after it in the order of its nodes: the same nodes are opened on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nest/base/stopwatch.hpp"
#include "nest/base/workers.hpp"
#include "nest/solve/search_result.hpp"
#include "nest/solve/tree/best_plans.hpp"
#include "nest/solve/tree/evaluator.hpp"
#include "nest/solve/tree/search_node.hpp"

namespace nest::solve {

class SearchTree {
 public:
  SearchTree(SearchProblem& problem, const SearchOptions& options, BestPlans& best, Workers& workers);

  // Until nothing is open, or a limit is reached.
  void run();
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Whether that was for want of memory.
  [[nodiscard]] bool full() const { return full_; }
  // No plan of the space is below, in what the objective counts; infinite where nothing was left out.
  [[nodiscard]] Seconds left_out() const;
  void count(SearchStats& stats) const;
  // Whoever wants progress, where the search stands.
  void tell() const;
  // A framework's rule that left something out, if any did.
  [[nodiscard]] const FrameworkRule* broken() const { return broken_; }

 private:
  using Node = SearchNode;
  using Kind = SearchNode::Kind;
  // What opening a node leads to.
  struct Opened {
    std::vector<Node> nodes;
    std::vector<std::pair<Evaluator::Best, double>> plans;  // with their weights
    FillCounts counts;
    Seconds bound;                       // of the node, in what the objective counts
    Seconds left_out = Seconds::most();  // no plan that the gap left out is below, counted so too
    std::int64_t fills = 0;
    std::int64_t relaxed = 0;
    const FrameworkRule* broken = nullptr;  // that forbade something
    std::vector<std::pair<const char*, std::int64_t>> pruned;
  };

  void push(Node node) {
    node.number = numbers_++;
    (node.deep() ? deep_ : wide_).push(std::move(node));
  }
  // The next of a round, if it is still of use; `deep` asks for one of those only.
  [[nodiscard]] std::optional<Node> next(bool deep);
  void drop(const Node& node);
  [[nodiscard]] bool useful(const Node& node) const;
  void open(Evaluator& evaluator, const Node& node, Opened& out);
  void run_jobs(std::vector<Opened>& round, const Workers::Job& job);
  void open_kind(Evaluator& evaluator, const Node& node, Opened& out) const;
  void open_degrees(Evaluator& evaluator, const Node& node, Opened& out) const;
  void open_schedule(Evaluator& evaluator, const Node& node, Opened& out) const;
  void open_zero(Evaluator& evaluator, const Node& node, Opened& out) const;
  void open_placements(Evaluator& evaluator, const Node& node, Opened& out) const;
  void open_fill(Evaluator& evaluator, const Node& node, Opened& out) const;
  void leave_out(const Node& node, Opened& out) const;
  // The node is opened again later.
  static void put_off(const Node& node, Opened& out);
  void dive();
  void take(std::vector<Opened>& round);
  void report();
  [[nodiscard]] Seconds threshold(const Node& node) const;

  SearchProblem* problem_;
  const SearchOptions* options_;
  BestPlans* best_;
  Workers* workers_;
  MemoryBudget memory_;
  std::vector<Evaluator> evaluators_;
  NodeQueue wide_;  // degrees, schedules, ZeRO
  NodeQueue deep_;  // placements and tables to fill: where plans come from
  std::int64_t numbers_ = 0;
  const FrameworkRule* broken_ = nullptr;
  Seconds dropped_ = Seconds::most();  // least bound of what the gap left out
  bool stopped_ = false;
  bool broken_off_ = false;  // a node that was not done
  bool full_ = false;        // there is no memory for more
  Seconds reported_;
  Stopwatch watch_;
  FillCounts counts_;
  std::int64_t opened_ = 0;
  std::int64_t fills_ = 0;
  std::int64_t relaxed_ = 0;
  std::map<std::string, std::int64_t> pruned_;
};

}  // namespace nest::solve
