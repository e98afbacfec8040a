#include "nest/solve/tree/search_tree.hpp"

#include <algorithm>
#include <utility>

#include "nest/solve/tree/first_plans.hpp"

namespace nest::solve {
namespace {

constexpr std::size_t kRound = 16;
constexpr std::size_t kDeep = 2;  // of a round
// Transitions (about a tenth of a second) after which a table waits until its bound is the least. Each time
// it is given more, so that little of the work is lost.
constexpr std::int64_t kPatience = 4'000'000;
constexpr int kMorePatience = 2;     // bits
constexpr std::int32_t kPutOff = 8;  // how often, at most

}  // namespace

SearchTree::SearchTree(SearchProblem& problem, const SearchOptions& options, BestPlans& best,
                       Workers& workers)
    : problem_(&problem),
      options_(&options),
      best_(&best),
      workers_(&workers),
      memory_(options.memory_limit),
      wide_(TakenLater{options.objective}),
      deep_(TakenLater{options.objective}) {
  for (std::size_t i = 0; i < workers.size(); ++i) evaluators_.emplace_back(problem);
}

// With a gap, plans only count where they are better by more than it. It is one of steps or costs: the fewest
// devices have none.
Seconds SearchTree::threshold(const Node& node) const {
  const Seconds all = best_->threshold(node.devices, node.weight);
  const bool gap = options_->gap > 0 && options_->objective != Objective::devices &&
                   options_->top + options_->runners_up <= 1;
  return gap && best_->best() != nullptr ? all / (1 + options_->gap) : all;
}

// Nothing of the node is within the threshold, but some of it may be better than the best plan by less than
// the gap.
void SearchTree::leave_out(const Node& node, Opened& out) const {
  const Seconds within = threshold(node);
  if (within < best_->threshold(node.devices, node.weight))
    out.left_out = std::max(node.bound, within) * node.weight;
}

bool SearchTree::useful(const Node& node) const {
  if (!problem_->prunings.group_bound && node.kind == Kind::degrees) return true;
  return node.bound * kRounding <= threshold(node);
}

void SearchTree::drop(const Node& node) {
  if (node.bound * kRounding <= best_->threshold(node.devices, node.weight))
    dropped_ = std::min(dropped_, node.value());
  const char* name = node.kind == Kind::fill                                   ? "network-bound"
                     : node.kind == Kind::zero || node.kind == Kind::placement ? "relaxed-bound"
                                                                               : "group-bound";
  ++pruned_[name];
}

std::optional<SearchTree::Node> SearchTree::next(bool deep) {
  const TakenLater later{options_->objective};
  while (!deep_.empty() || (!deep && !wide_.empty())) {
    const bool from_deep = wide_.empty() || deep || (!deep_.empty() && later(wide_.first(), deep_.first()));
    Node node = (from_deep ? deep_ : wide_).pop();
    if (useful(node)) return node;
    drop(node);
  }
  return std::nullopt;
}

void SearchTree::put_off(const Node& node, Opened& out) {
  Node later = node;
  later.bound = std::max(later.bound, out.counts.bound * kRounding);
  ++later.put_off;
  out.nodes.push_back(std::move(later));
}

// What is broken off half-way leads to itself: it stays open.
void SearchTree::open(Evaluator& evaluator, const Node& node, Opened& out) {
  out.counts.deadline = &options_->deadline;
  out.counts.memory = &memory_;
  try {
    options_->deadline.look();
    open_kind(evaluator, node, out);
  } catch (const PutOff&) {
    put_off(node, out);
  } catch (const Stopped&) {
    const bool too_large = out.counts.too_large;
    out = {};
    out.counts.broken_off = true;
    out.counts.too_large = too_large;
    out.nodes.push_back(node);
  }
}

// Jobs that found no memory beside others are done once more, each alone: what is too large then is so
// whatever the number of threads.
void SearchTree::run_jobs(std::vector<Opened>& round, const Workers::Job& job) {
  workers_->run(round.size(), job);
  for (std::size_t i = 0; i < round.size(); ++i) {
    if (!round[i].counts.too_large || workers_->size() == 1) continue;
    round[i] = {};
    job(0, i);
  }
}

void SearchTree::open_kind(Evaluator& evaluator, const Node& node, Opened& out) const {
  switch (node.kind) {
    case Kind::degrees:
      return open_degrees(evaluator, node, out);
    case Kind::schedule:
      return open_schedule(evaluator, node, out);
    case Kind::zero:
      return open_zero(evaluator, node, out);
    case Kind::placement:
      return open_placements(evaluator, node, out);
    case Kind::fill:
      return open_fill(evaluator, node, out);
  }
}

void SearchTree::open_degrees(Evaluator& evaluator, const Node& node, Opened& out) const {
  const Degrees& degrees = problem_->degrees[node.configuration.degrees];
  for (const auto& [schedule, v] : problem_->schedules(degrees)) {
    Node next = node;
    next.kind = Kind::schedule;
    next.configuration.schedule = schedule;
    next.configuration.interleave = v;
    next.bound = std::max(node.bound, evaluator.quick_bound(degrees, schedule, v));
    out.nodes.push_back(std::move(next));
  }
}

// First whether any ZeRO could make this worth while.
void SearchTree::open_schedule(Evaluator& evaluator, const Node& node, Opened& out) const {
  Seconds bound = node.bound;
  if (problem_->prunings.relaxed_bound) {
    ++out.relaxed;
    const auto relaxed =
        evaluator.relaxed_bound(node.configuration, ShardKind::any, threshold(node), out.counts);
    if (!relaxed) {
      leave_out(node, out);
      out.pruned.emplace_back("relaxed-bound", 1);
      return;
    }
    bound = std::max(bound, *relaxed);
  }
  for (const auto& [zero, shards, recompute] : problem_->zeros(node.configuration)) {
    Node next = node;
    next.kind = Kind::zero;
    next.bound = bound;
    next.shards = shards;
    next.configuration.zero = zero;
    next.configuration.recompute = recompute;
    out.nodes.push_back(std::move(next));
  }
}

void SearchTree::open_zero(Evaluator& evaluator, const Node& node, Opened& out) const {
  Node next = node;
  next.kind = Kind::placement;
  if (problem_->prunings.relaxed_bound) {
    ++out.relaxed;
    const auto relaxed =
        evaluator.relaxed_bound(node.configuration, node.shards, threshold(node), out.counts);
    if (!relaxed) {
      leave_out(node, out);
      out.pruned.emplace_back("relaxed-bound", 1);
      return;
    }
    next.bound = std::max(node.bound, *relaxed);
  }
  out.nodes.push_back(std::move(next));
}

void SearchTree::open_placements(Evaluator& evaluator, const Node& node, Opened& out) const {
  const Degrees& degrees = problem_->degrees[node.configuration.degrees];
  const LayerGraph& graph = *problem_->costs->batches()[degrees.batch].graph;
  for (const TieQuestion& ties : tie_questions(graph, degrees.pipeline, node.configuration.schedule)) {
    const auto placements = problem_->placements->of(
        problem_->placement_question(node.configuration, node.shards, ties.first, ties.last));
    for (std::size_t i = 0; i < placements->size(); ++i) {
      const Placement& own = (*placements)[i];
      Node next = node;
      next.kind = Kind::fill;
      next.ties = ties;
      next.placements = placements;
      next.placement = i;
      next.configuration = SearchProblem::placed(node.configuration, own);
      next.weight = problem_->weight(node.devices, own);
      if (const FrameworkRule* rule = problem_->broken_rule(next.configuration)) {
        out.broken = rule;
        continue;
      }
      if (problem_->prunings.network_bound)
        next.bound = std::max(node.bound, evaluator.network_bound(next.configuration, own));
      out.nodes.push_back(std::move(next));
    }
  }
}

void SearchTree::open_fill(Evaluator& evaluator, const Node& node, Opened& out) const {
  ++out.fills;
  out.bound = node.value();
  if (problem_->prunings.put_off && node.put_off < kPutOff)
    out.counts.patience = kPatience << (kMorePatience * node.put_off);
  const Seconds within = threshold(node);
  auto best =
      evaluator.best(node.configuration, (*node.placements)[node.placement], node.ties, within, out.counts);
  if (out.counts.put_off) {
    put_off(node, out);
  } else if (!best || best->step > within) {
    leave_out(node, out);
  }
  if (best) out.plans.emplace_back(std::move(*best), node.weight);
}

void SearchTree::take(std::vector<Opened>& round) {
  for (Opened& opened : round) {
    counts_.work += opened.counts.work;
    counts_.labels += opened.counts.labels;
    broken_off_ = broken_off_ || opened.counts.broken_off;
    full_ = full_ || opened.counts.too_large;
    if (broken_ == nullptr) broken_ = opened.broken;
    dropped_ = std::min(dropped_, opened.left_out);
    if (opened.counts.cut_short > 0) dropped_ = std::min(dropped_, opened.bound);
    fills_ += opened.fills;
    relaxed_ += opened.relaxed;
    for (const auto& [name, count] : opened.pruned) pruned_[name] += count;
    for (auto& [best, weight] : opened.plans) best_->add(best.step, std::move(best.plan), weight);
  }
  for (Opened& opened : round) {
    for (Node& node : opened.nodes) {
      if (useful(node)) {
        push(std::move(node));
      } else {
        drop(node);
      }
    }
    opened = {};
  }
}

// Good plans first: the better they are, the less has to be looked at.
void SearchTree::dive() {
  FirstPlans first(*problem_, *options_, *workers_, evaluators_);
  first.find(*best_, memory_);
  counts_.work += first.counts().work;
  fills_ += first.fills();
}

void SearchTree::run() {
  if (problem_->prunings.dive && options_->work_limit.value_or(1) > 0) dive();
  for (std::size_t g = 0; g < problem_->degrees.size(); ++g) {
    if (problem_->too_large(problem_->degrees[g])) {
      ++pruned_["memory-bound"];
      continue;
    }
    Node node;
    node.configuration.degrees = g;
    node.bound = problem_->degrees[g].bound;
    node.devices = problem_->degrees[g].devices;
    node.weight = problem_->weight(node.devices);
    if (useful(node)) {
      push(std::move(node));
    } else {
      drop(node);
    }
  }
  std::vector<Node> nodes;
  std::vector<Opened> round;
  while (!wide_.empty() || !deep_.empty()) {
    memory_.hold(Bytes{static_cast<std::int64_t>((wide_.size() + deep_.size()) * sizeof(Node))});
    full_ = full_ || memory_.full();
    if (full_ || options_->deadline.over() ||
        (options_->work_limit && counts_.work >= *options_->work_limit)) {
      stopped_ = true;
      return;
    }
    report();
    nodes.clear();
    // Mostly by their bounds; a few that lead to plans soon, so that there is something to compare with.
    for (const auto& [deep, most] : {std::pair(true, kDeep), std::pair(false, kRound)}) {
      while (nodes.size() < most) {
        auto node = next(deep);
        if (!node) break;
        nodes.push_back(std::move(*node));
      }
    }
    round.assign(nodes.size(), {});
    opened_ += static_cast<std::int64_t>(nodes.size());
    run_jobs(round,
             [&](std::size_t worker, std::size_t job) { open(evaluators_[worker], nodes[job], round[job]); });
    take(round);
  }
  stopped_ = broken_off_;
}

Seconds SearchTree::left_out() const {
  Seconds least = dropped_;
  // Stages that no table knows may be better than all that is looked at.
  if (!problem_->costs->whole()) {
    for (const Degrees& degrees : problem_->degrees)
      least = std::min(least, degrees.bound * problem_->weight(degrees.devices));
  }
  for (const NodeQueue* queue : {&wide_, &deep_}) {
    for (const Node& node : queue->all()) least = std::min(least, node.value());
  }
  return least;
}

}  // namespace nest::solve
