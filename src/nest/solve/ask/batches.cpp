#include "nest/solve/ask/batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "nest/question/choice_values.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

constexpr std::size_t kMostNear = 6;  // batches that are tried unasked

std::int64_t odd_part(std::int64_t n) {
  while (n % 2 == 0) n /= 2;
  return n;
}

double rate(const Plan& plan) {
  return static_cast<double>(plan.training.global_batch) / plan.predicted->step.value;
}

PlanQuestion with_batch(const PlanQuestion& question, std::int64_t batch) {
  PlanQuestion one = question;
  one.training.global_batch = batch;
  one.batches.clear();
  return one;
}

}  // namespace

SearchResult ask_batches(const PlanQuestion& question, const std::vector<std::int64_t>& batches,
                         const SearchFunction& searching) {
  SearchResult best;
  SearchStats stats;
  bool first = true;
  bool proved = true;
  BatchesProof proof{.asked = batches.size()};
  for (const std::int64_t batch : batches) {
    PlanQuestion one = with_batch(question, batch);
    if (one.options.progress) {
      one.options.progress = [told = question.options.progress, batch](SearchProgress progress) {
        progress.batch = batch;
        told(progress);
      };
    }
    if (!best.plans.empty()) {
      one.options.slowest = Seconds{static_cast<double>(batch) / rate(best.plans.front())};
      one.options.least_memory = false;
    }
    SearchResult found = first || !question.options.deadline.over()
                             ? searching(one)
                             : SearchResult{.status = PlanStatus::limit};
    if (found.status == PlanStatus::disagreement) return found;
    stats.add(found.stats);
    proved = proved && ended(found.status);
    // What was not searched to its end has the bound that it has; of what was not begun nothing is known.
    if (ended(found.status) || found.lower_bound.value > 0) ++proof.bounded;
    if (found.lower_bound.value > 0)
      proof.most_per_s = std::max(proof.most_per_s, static_cast<double>(batch) / found.lower_bound.value);
    const bool better =
        !found.plans.empty() &&
        (best.plans.empty() || rate(found.plans.front()) > rate(best.plans.front()) * (1 + kTie));
    if (first || better || (best.plans.empty() && found.status == PlanStatus::limit)) {
      found.stats = {};
      best = std::move(found);
    }
    first = false;
  }
  best.stats = std::move(stats);
  if (best.plans.empty()) return best;
  Plan& plan = best.plans.front();
  best.status = proved ? PlanStatus::optimal : PlanStatus::feasible;
  // The best batch was only searched for what beats the others before it: those are no worse than its plan.
  proof.most_per_s = proved ? rate(plan) : std::max(proof.most_per_s, rate(plan));
  if (proof.bounded == proof.asked)
    best.lower_bound = Seconds{static_cast<double>(plan.training.global_batch) / proof.most_per_s};
  best.batches = proof;
  plan.status = best.status;
  plan.lower_bound = best.lower_bound;
  return best;
}

std::vector<std::int64_t> near_batches(const PlanQuestion& question, const Plan& best) {
  const std::int64_t asked = question.training.global_batch;
  const std::int64_t devices = question.inputs.cluster.devices();
  if (asked % odd_part(devices) == 0 && best.parallelism.devices() == devices) return {};
  const auto reach = static_cast<std::int64_t>(kNearBatch * static_cast<double>(asked));
  std::vector<std::int64_t> near;
  for (std::int64_t batch = std::max<std::int64_t>(1, asked - reach); batch <= asked + reach; ++batch) {
    if (batch != asked && std::gcd(batch, devices) > 1) near.push_back(batch);
  }
  const auto worth = [&](std::int64_t batch) {
    return std::tuple(-std::gcd(batch, devices), -static_cast<std::int64_t>(divisors(batch).size()),
                      std::abs(batch - asked), batch);
  };
  std::sort(near.begin(), near.end(), [&](std::int64_t a, std::int64_t b) { return worth(a) < worth(b); });
  near.resize(std::min(near.size(), kMostNear));
  return near;
}

std::optional<Plan> better_batch(const PlanQuestion& question, const Plan& best, Further& further) {
  std::optional<Plan> found;
  double beaten = rate(best) * (1 + kMuchFaster);
  for (const std::int64_t batch : near_batches(question, best)) {
    PlanQuestion one = with_batch(question, batch);
    const double larger = static_cast<double>(batch) / static_cast<double>(best.training.global_batch);
    one.options.slowest = Seconds{static_cast<double>(batch) / (beaten * std::max(1.0, larger))};
    SearchResult other = further.ask(std::move(one));
    if (other.plans.empty()) continue;
    beaten = rate(other.plans.front()) * (1 + kTie);
    found = std::move(other.plans.front());
  }
  return found;
}

}  // namespace nest::solve
