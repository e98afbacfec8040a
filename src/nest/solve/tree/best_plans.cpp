#include "nest/solve/tree/best_plans.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "nest/solve/tree/configuration.hpp"

namespace nest::solve {

bool BestPlans::before(const Entry& a, const Entry& b) const {
  if (objective_ == Objective::devices && a.devices != b.devices) return a.devices < b.devices;
  return a.value() != b.value() ? a.value() < b.value() : a.tie < b.tie;
}

void BestPlans::add(Seconds step, Plan plan, double weight) {
  if (step > slowest_) return;
  Entry entry{step, weight, plan.parallelism.devices(), tie_key(plan), {}};
  const auto [at, made] = entries_.try_emplace(degree_key(plan));
  if (!made && !before(entry, at->second)) return;
  entry.plan = std::move(plan);
  at->second = std::move(entry);
  update();
}

void BestPlans::update() {
  const std::vector<const Entry*> list = all();
  best_ = list.front();
  last_ = list.size() >= static_cast<std::size_t>(top_) ? list[static_cast<std::size_t>(top_) - 1] : nullptr;
}

const BestPlans::Entry* BestPlans::best() const {
  return best_;
}

std::vector<const BestPlans::Entry*> BestPlans::all() const {
  std::vector<const Entry*> list;
  list.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) list.push_back(&entry);
  std::sort(list.begin(), list.end(), [&](const Entry* a, const Entry* b) { return before(*a, *b); });
  if (objective_ == Objective::devices) return list;
  for (auto first = list.begin(); first != list.end();) {
    const Seconds equal = (*first)->value() * (1 + kTie);
    const auto last = std::find_if(first, list.end(), [&](const Entry* e) { return e->value() > equal; });
    std::sort(first, last, [&](const Entry* a, const Entry* b) {
      return a->devices != b->devices ? a->devices < b->devices : before(*a, *b);
    });
    first = last;
  }
  return list;
}

Seconds BestPlans::threshold(std::int64_t devices, double weight) const {
  if (last_ == nullptr) return slowest_;
  if (objective_ == Objective::devices && devices != last_->devices)
    return devices < last_->devices ? slowest_ : Seconds{-std::numeric_limits<double>::infinity()};
  return objective_ == Objective::devices ? last_->step : last_->value() * (1 + kTie) / weight;
}

bool BestPlans::open(std::int64_t devices, Seconds bound, double weight) const {
  return bound <= threshold(devices, weight);
}

}  // namespace nest::solve
