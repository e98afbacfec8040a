#include "nest/solve/tree/search_tree.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/question/choice_values.hpp"

namespace nest::solve {
namespace {

constexpr std::size_t kRound = 16;
constexpr std::size_t kDeep = 2;  // of a round

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

// With a gap, plans only count where they are better by more than it. It is one of steps: the fewest devices
// have none.
Seconds SearchTree::threshold(std::int64_t devices) const {
  const Seconds all = best_->threshold(devices);
  const bool gap = options_->gap > 0 && options_->objective == Objective::step_time &&
                   options_->top + options_->runners_up <= 1;
  return gap && best_->best() != nullptr ? all / (1 + options_->gap) : all;
}

// Nothing of the node is within the threshold, but some of it may be better than the best plan by less than
// the gap.
void SearchTree::leave_out(const Node& node, Opened& out) const {
  const Seconds within = threshold(node.devices);
  if (within < best_->threshold(node.devices)) out.left_out = std::max(node.bound, within);
}

bool SearchTree::useful(const Node& node) const {
  if (!problem_->prunings.group_bound && node.kind == Kind::degrees) return true;
  return node.bound * kRounding <= threshold(node.devices);
}

void SearchTree::drop(const Node& node) {
  if (node.bound * kRounding <= best_->threshold(node.devices)) dropped_ = std::min(dropped_, node.bound);
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

const FrameworkRule* SearchTree::broken_rule(const Configuration& c) const {
  if (problem_->space->rules == nullptr) return nullptr;
  const Degrees& degrees = problem_->degrees[c.degrees];
  PlanDegrees all;
  all.training = problem_->costs->batches()[degrees.batch].training;
  all.training.micro_batches = degrees.micro_batches;
  Parallelism& p = all.parallelism;
  p.strategy = problem_->strategies[degrees.strategy];
  p.pipeline = degrees.pipeline;
  p.data = degrees.copies * p.strategy.side();
  p.data_inner = c.inner;
  p.block_devices = c.block_devices;
  p.zero = c.zero;
  p.zero_shards = c.zero_shards;
  p.interleave = c.interleave;
  p.schedule = c.schedule;
  p.first_stage_first = c.first_stage_first;
  return problem_->space->rules->broken(all);
}

// What is broken off half-way leads to itself: it stays open.
void SearchTree::open(Evaluator& evaluator, const Node& node, Opened& out) {
  out.counts.deadline = &options_->deadline;
  out.counts.memory = &memory_;
  try {
    options_->deadline.look();
    open_kind(evaluator, node, out);
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
  const SearchSpace& space = *problem_->space;
  const auto layers = static_cast<std::int64_t>(problem_->costs->batches()[degrees.batch].sets->layers());
  for (const Schedule schedule : schedule_values(space)) {
    for (const std::int64_t v : interleave_values(space)) {
      if (v > layers / degrees.pipeline || !runs_with(schedule, {degrees.pipeline, degrees.micro_batches, v}))
        continue;
      Node next = node;
      next.kind = Kind::schedule;
      next.configuration.schedule = schedule;
      next.configuration.interleave = v;
      next.bound = std::max(node.bound, evaluator.quick_bound(degrees, schedule, v));
      out.nodes.push_back(std::move(next));
    }
  }
}

// First whether any ZeRO could make this worth while.
void SearchTree::open_schedule(Evaluator& evaluator, const Node& node, Opened& out) const {
  const Degrees& degrees = problem_->degrees[node.configuration.degrees];
  Seconds bound = node.bound;
  if (problem_->prunings.relaxed_bound) {
    ++out.relaxed;
    const auto relaxed =
        evaluator.relaxed_bound(node.configuration, ShardKind::any, threshold(node.devices), out.counts);
    if (!relaxed) {
      leave_out(node, out);
      out.pruned.emplace_back("relaxed-bound", 1);
      return;
    }
    bound = std::max(bound, *relaxed);
  }
  const SearchSpace& space = *problem_->space;
  const Strategy& strategy = problem_->strategies[degrees.strategy];
  const std::int64_t ranks = degrees.copies * strategy.cell() / strategy.tensor;
  std::vector<std::optional<Recompute>> policies{std::nullopt};
  if (space.same_recompute || (space.rules != nullptr && space.rules->same_recompute)) {
    policies.clear();
    const auto layers = static_cast<std::int64_t>(problem_->costs->batches()[degrees.batch].sets->layers());
    const bool parts = space.rules == nullptr || space.rules->allows_part(node.configuration.interleave);
    for (const Recompute& r : problem_->recompute.uniform(layers))
      if (parts || r.layers == 0) policies.emplace_back(r);
  }
  for (const Zero zero : space.zero.values(Zero::kMost, 0)) {
    if (zero.shards_anything() && ranks == 1 && space.zero.open()) continue;
    for (const ShardKind kind : {ShardKind::whole, ShardKind::part}) {
      if (kind == ShardKind::part && (!zero.shards_anything() || ranks == 1)) continue;
      if (kind == ShardKind::whole && zero.shards_anything() && !space.zero_shards.has(ranks)) continue;
      for (const std::optional<Recompute>& policy : policies) {
        Node next = node;
        next.kind = Kind::zero;
        next.bound = bound;
        next.shards = kind;
        next.configuration.zero = zero;
        next.configuration.recompute = policy;
        out.nodes.push_back(std::move(next));
      }
    }
  }
}

void SearchTree::open_zero(Evaluator& evaluator, const Node& node, Opened& out) const {
  Node next = node;
  next.kind = Kind::placement;
  if (problem_->prunings.relaxed_bound) {
    ++out.relaxed;
    const auto relaxed =
        evaluator.relaxed_bound(node.configuration, node.shards, threshold(node.devices), out.counts);
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
  for (const TieQuestion& ties : tie_questions(graph, degrees.pipeline)) {
    const PlacementQuestion question{degrees.strategy,
                                     degrees.pipeline,
                                     degrees.copies,
                                     node.configuration.zero.shards_anything() ? node.shards : ShardKind::any,
                                     schedule_of(node.configuration.schedule).wraps(),
                                     ties.first,
                                     ties.last};
    const auto placements = problem_->placements->of(question);
    for (std::size_t i = 0; i < placements->size(); ++i) {
      const Placement& own = (*placements)[i];
      Node next = node;
      next.kind = Kind::fill;
      next.ties = ties;
      next.placements = placements;
      next.placement = i;
      Configuration& c = next.configuration;
      c.inner = own.inner;
      c.block_devices = own.block_devices;
      c.first_stage_first = own.first_stage_first;
      c.zero_shards = c.zero.shards_anything() ? own.zero_shards : 1;
      if (const FrameworkRule* rule = broken_rule(c)) {
        out.broken = rule;
        continue;
      }
      if (problem_->prunings.network_bound)
        next.bound = std::max(node.bound, evaluator.network_bound(c, own));
      out.nodes.push_back(std::move(next));
    }
  }
}

void SearchTree::open_fill(Evaluator& evaluator, const Node& node, Opened& out) const {
  ++out.fills;
  out.bound = node.bound;
  const Seconds within = threshold(node.devices);
  auto best =
      evaluator.best(node.configuration, (*node.placements)[node.placement], node.ties, within, out.counts);
  if (!best || best->step > within) leave_out(node, out);
  if (best) out.plans.push_back(std::move(*best));
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
    for (Evaluator::Best& best : opened.plans) best_->add(best.step, std::move(best.plan));
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

// A good plan early: the most promising degrees of each strategy and micro-batch size, in one usual placement.
void SearchTree::dive() {
  std::vector<Node> firsts;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t g = 0; g < problem_->degrees.size(); ++g) {
    const Degrees& degrees = problem_->degrees[g];
    if (too_large(degrees) || !seen.emplace(degrees.batch, degrees.strategy).second) continue;
    Node node;
    node.configuration.degrees = g;
    node.bound = degrees.bound;
    node.devices = degrees.devices;
    firsts.push_back(node);
    if (firsts.size() >= 2 * kRound) break;
  }
  std::vector<Opened> round(firsts.size());
  const auto follow = [&](std::size_t worker, std::size_t job) {
    Evaluator& evaluator = evaluators_[worker];
    Opened& out = round[job];
    std::vector<Node> trail{firsts[job]};
    // The first of each kind that leads on, with ZeRO 1 before others.
    while (!trail.empty() && out.plans.empty()) {
      const Node node = trail.back();
      trail.pop_back();
      if (node.bound * kRounding > threshold(node.devices)) continue;
      Opened step;
      open(evaluator, node, step);
      out.counts.too_large = step.counts.too_large;
      if (step.plans.empty() && step.counts.broken_off) return;
      out.counts.work += step.counts.work;
      out.fills += step.fills;
      out.relaxed += step.relaxed;
      for (Evaluator::Best& best : step.plans) out.plans.push_back(std::move(best));
      if (step.nodes.empty()) continue;
      const auto wanted =
          std::min_element(step.nodes.begin(), step.nodes.end(), [](const Node& a, const Node& b) {
            const auto rank = [](const Node& n) {
              return std::pair(
                  n.kind == Kind::zero
                      ? (n.configuration.zero.scatters_at_step_end() && n.shards == ShardKind::whole ? 0 : 1)
                      : 0,
                  n.bound);
            };
            return rank(a) < rank(b);
          });
      trail.push_back(*wanted);
    }
  };
  run_jobs(round, follow);
  for (Opened& opened : round) opened.counts.too_large = false;  // others may do
  take(round);
}

void SearchTree::run() {
  if (problem_->prunings.dive && options_->work_limit.value_or(1) > 0) dive();
  for (std::size_t g = 0; g < problem_->degrees.size(); ++g) {
    if (too_large(problem_->degrees[g])) {
      ++pruned_["memory-bound"];
      continue;
    }
    Node node;
    node.configuration.degrees = g;
    node.bound = problem_->degrees[g].bound;
    node.devices = problem_->degrees[g].devices;
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
  for (const NodeQueue* queue : {&wide_, &deep_}) {
    for (const Node& node : queue->all()) least = std::min(least, node.bound);
  }
  return least;
}

}  // namespace nest::solve
