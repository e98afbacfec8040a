#include "nest/solve/tree/first_plans.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace nest::solve {
namespace {

constexpr std::size_t kBlock = 32;          // degrees that are estimated between two looks at the best
constexpr std::size_t kMostDegrees = 4096;  // that are estimated
constexpr std::size_t kPlaced = 8;          // candidates that get other placements
constexpr std::size_t kOfStrategy = 4;      // of them with the same strategy and micro-batch size
constexpr double kNear = 1.02;              // times the best: what is above is not looked at any further
constexpr std::size_t kPlacements = 3;      // of each, by their bounds
constexpr std::size_t kImproved = 2;        // plans that are improved by a beam search
constexpr std::size_t kChunked = 3;         // configurations with chunks that are tried

}  // namespace

bool FirstPlans::earlier(const Candidate& a, const Candidate& b) const {
  const Degrees& left = problem_->degrees[a.configuration.degrees];
  const Degrees& right = problem_->degrees[b.configuration.degrees];
  if (options_->objective == Objective::devices && left.devices != right.devices)
    return left.devices < right.devices;
  const Seconds mine = a.estimate * weight(a);
  const Seconds theirs = b.estimate * weight(b);
  return std::tie(mine, a.configuration.degrees, a.number) <
         std::tie(theirs, b.configuration.degrees, b.number);
}

void FirstPlans::keep_best(std::vector<Candidate>& all, std::size_t most, std::size_t of_strategy) const {
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
  std::sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) { return earlier(a, b); });
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> taken;
  std::vector<Candidate> kept;
  for (Candidate& candidate : all) {
    const Degrees& degrees = problem_->degrees[candidate.configuration.degrees];
    if (kept.size() >= most || ++taken[{degrees.batch, degrees.strategy}] > of_strategy) continue;
    kept.push_back(std::move(candidate));
  }
  all = std::move(kept);
}

// Plans that do not count are not kept: there are many.
void FirstPlans::add(const Candidate& candidate, BestPlans& best) const {
  const std::int64_t devices = problem_->degrees[candidate.configuration.degrees].devices;
  if (candidate.plan && best.open(devices, candidate.plan->step, weight(candidate)))
    best.add(candidate.plan->step, candidate.plan->plan, weight(candidate));
}

double FirstPlans::weight(const Candidate& candidate) const {
  return problem_->weight(problem_->degrees[candidate.configuration.degrees].devices, candidate.placement);
}

// Every ZeRO and recomputation with the first schedule without chunks.
std::vector<FirstPlans::Candidate> FirstPlans::usual_of(Evaluator& evaluator, std::size_t number,
                                                        Seconds limit) const {
  const Degrees& degrees = problem_->degrees[number];
  const std::vector<TieQuestion> ties =
      tie_questions(*problem_->costs->batches()[degrees.batch].graph, degrees.pipeline);
  std::vector<Candidate> all;
  for (const auto& [schedule, interleave] : problem_->schedules(degrees)) {
    if (interleave > 1) continue;
    Candidate candidate;
    std::optional<Zero> fitted;
    ShardKind fitted_shards = ShardKind::any;
    Configuration& c = candidate.configuration;
    c.degrees = number;
    c.schedule = schedule;
    c.interleave = interleave;
    for (const auto& [zero, shards, recompute] : problem_->zeros(c)) {
      if (shards == ShardKind::part && problem_->space->zero_shards.open()) continue;
      // Where all stages recompute alike: the first that fits, less recomputation first, and no parts of stages.
      if (recompute && (recompute->layers > 0 || (fitted == zero && fitted_shards == shards))) continue;
      candidate.shards = shards;
      c.zero = zero;
      c.recompute = recompute;
      const auto estimate = evaluator.estimate(c, shards, candidate.counts);
      if (!estimate || estimate->step > limit) continue;
      candidate.ties = ties.size() == 1 ? ties.front() : estimate->ties;
      const auto placement = problem_->placements->usual(
          problem_->placement_question(c, shards, candidate.ties.first, candidate.ties.last));
      if (!placement) continue;
      candidate.placement = *placement;
      const Configuration placed = SearchProblem::placed(c, *placement);
      if (problem_->broken_rule(placed) != nullptr) continue;
      candidate.plan = evaluator.best(placed, *placement, candidate.ties, limit, candidate.counts,
                                      Evaluator::Effort::guess);
      if (!candidate.plan) continue;
      fitted = zero;
      fitted_shards = shards;
      candidate.estimate = candidate.plan->step;
      all.push_back(candidate);
      candidate.plan.reset();
      candidate.counts = {};
    }
    break;
  }
  return all;
}

std::vector<FirstPlans::Candidate> FirstPlans::usual(BestPlans& best) {
  std::vector<std::size_t> numbers;
  for (std::size_t g = 0; g < problem_->degrees.size() && numbers.size() < kMostDegrees; ++g) {
    if (!problem_->too_large(problem_->degrees[g])) numbers.push_back(g);
  }
  const bool fewest = options_->objective == Objective::devices;
  const auto value = [&](std::size_t g) {
    return problem_->degrees[g].bound * problem_->weight(problem_->degrees[g].devices);
  };
  if (fewest) {
    std::sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(problem_->degrees[a].devices, a) < std::pair(problem_->degrees[b].devices, b);
    });
  } else if (problem_->bills) {
    std::sort(numbers.begin(), numbers.end(),
              [&](std::size_t a, std::size_t b) { return std::pair(value(a), a) < std::pair(value(b), b); });
  }
  std::vector<Candidate> all;
  std::vector<std::vector<Candidate>> block;
  for (std::size_t from = 0; from < numbers.size() && !options_->deadline.late(); from += kBlock) {
    const std::size_t count = std::min(kBlock, numbers.size() - from);
    // Degrees are in the order of their bounds.
    const Seconds limit =
        all.empty() || fewest ? Seconds::most() : all.front().estimate * weight(all.front()) * kNear;
    if (value(numbers[from]) > limit) break;
    block.assign(count, {});
    workers_->run(count, [&](std::size_t worker, std::size_t job) {
      const std::size_t number = numbers[from + job];
      const std::int64_t devices = problem_->degrees[number].devices;
      const Seconds own = limit / problem_->weight(devices);
      const Seconds within = fewest ? std::min(own, best.threshold(devices)) : own;
      if (!options_->deadline.late()) block[job] = usual_of((*evaluators_)[worker], number, within);
    });
    for (std::vector<Candidate>& own : block) {
      for (Candidate& candidate : own) {
        counts_.work += candidate.counts.work;
        candidate.counts = {};
        add(candidate, best);
        all.push_back(std::move(candidate));
      }
    }
    keep_best(all, kPlaced, kOfStrategy);
  }
  return all;
}

void FirstPlans::place(Evaluator& evaluator, Candidate& candidate, Seconds limit) const {
  const auto placements = problem_->placements->of(problem_->placement_question(
      candidate.configuration, candidate.shards, candidate.ties.first, candidate.ties.last));
  std::vector<std::pair<Seconds, std::size_t>> order;
  for (std::size_t i = 0; i < placements->size(); ++i) {
    const Configuration placed = SearchProblem::placed(candidate.configuration, (*placements)[i]);
    if (problem_->broken_rule(placed) == nullptr)
      order.emplace_back(evaluator.network_bound(placed, (*placements)[i]), i);
  }
  std::sort(order.begin(), order.end());
  if (order.size() > kPlacements) order.resize(kPlacements);
  for (const auto& [bound, i] : order) {
    const Placement& placement = (*placements)[i];
    auto found = evaluator.best(SearchProblem::placed(candidate.configuration, placement), placement,
                                candidate.ties, limit, candidate.counts, Evaluator::Effort::guess);
    if (!found) continue;
    const std::int64_t devices = problem_->degrees[candidate.configuration.degrees].devices;
    if (candidate.plan &&
        candidate.plan->step * weight(candidate) <= found->step * problem_->weight(devices, placement))
      continue;
    candidate.placement = placement;
    candidate.plan = std::move(found);
  }
}

template <class Work>
void FirstPlans::improve(std::vector<Candidate>& candidates, BestPlans& best, const Work& work) {
  workers_->run(candidates.size(), [&](std::size_t worker, std::size_t job) {
    Candidate& candidate = candidates[job];
    candidate.counts.deadline = &options_->deadline;
    candidate.counts.memory = memory_;
    try {
      options_->deadline.look();
      work((*evaluators_)[worker], candidate);
    } catch (const Stopped&) {
      return;  // with what it has found so far
    }
  });
  for (Candidate& candidate : candidates) {
    counts_.work += candidate.counts.work;
    candidate.counts = {};
    if (!candidate.plan) continue;
    candidate.estimate = candidate.plan->step;
    add(candidate, best);
  }
  fills_ += static_cast<std::int64_t>(candidates.size());
  std::erase_if(candidates, [](const Candidate& c) { return !c.plan; });
}

void FirstPlans::find(BestPlans& best, MemoryBudget& memory) {
  memory_ = &memory;
  std::vector<Candidate> all = usual(best);
  const auto within = [&](const Candidate& c) {
    const std::int64_t devices = problem_->degrees[c.configuration.degrees].devices;
    return best.threshold(devices, problem_->weight(devices));
  };
  const auto in_other_places = [&](Evaluator& evaluator, Candidate& candidate) {
    place(evaluator, candidate, within(candidate));
  };
  improve(all, best, in_other_places);
  keep_best(all, kPlaced, kPlaced);
  // The same degrees with chunks.
  std::vector<Candidate> chunked;
  for (const Candidate& candidate : all) {
    for (const auto& [schedule, interleave] :
         problem_->schedules(problem_->degrees[candidate.configuration.degrees])) {
      if (interleave == 1 || chunked.size() >= kChunked) continue;
      Candidate& with = chunked.emplace_back(candidate);
      with.plan.reset();
      with.configuration.schedule = schedule;
      with.configuration.interleave = interleave;
    }
  }
  improve(chunked, best, in_other_places);
  if (all.size() > kImproved) all.resize(kImproved);
  improve(all, best, [&](Evaluator& evaluator, Candidate& candidate) {
    auto found = evaluator.best(SearchProblem::placed(candidate.configuration, candidate.placement),
                                candidate.placement, candidate.ties, within(candidate), candidate.counts,
                                Evaluator::Effort::beam);
    if (found && found->step < candidate.plan->step) candidate.plan = std::move(found);
  });
}

}  // namespace nest::solve
