#include "nest/solve/ask/simpler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "nest/base/numbers.hpp"
#include "nest/question/choice_values.hpp"

namespace nest::solve {
namespace {

// What a plan with room in memory leaves free, most first.
constexpr std::array kHeadroom{0.15};

bool is_power(std::int64_t n) {
  return std::has_single_bit(static_cast<std::uint64_t>(n));
}

// Leaves those values of a choice that are in `wanted`; false where none is left.
bool narrow(Choice& choice, const std::vector<std::int64_t>& wanted) {
  std::vector<Choice::Range> left;
  for (const std::int64_t value : wanted) {
    if (choice.has(value)) left.push_back({value, value});
  }
  if (left.empty()) return false;
  choice = Choice(std::move(left));
  return true;
}

std::vector<std::int64_t> powers_to(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n <= most; n *= 2) all.push_back(n);
  return all;
}

bool recomputes_parts(const Plan& plan) {
  const Recompute& first = plan.stages.front().recompute;
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const Stage& s) { return s.recompute.layers > 0 || !(s.recompute == first); });
}

bool recompute_whole(const PlanInputs& inputs, SearchSpace& space) {
  if (space.recompute.empty()) {
    space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
    if (inputs.profile() == nullptr)
      space.recompute.insert(space.recompute.end(),
                             {{RecomputePolicy::selective, 0}, {RecomputePolicy::modules, 0}});
  } else {
    std::erase_if(space.recompute, [](const Recompute& r) { return r.layers > 0; });
  }
  space.same_recompute = true;
  return !space.recompute.empty();
}

bool odd_degrees(const Parallelism& p) {
  return !is_power(p.strategy.tensor) || !is_power(p.pipeline) || !is_power(p.data);
}

bool odd_chunks(const Plan& plan) {
  return !is_power(plan.parallelism.interleave);
}

bool even_degrees(const PlanInputs& inputs, SearchSpace& space) {
  const Cluster& cluster = inputs.cluster;
  if (space.tensor.open()) {
    std::vector<std::int64_t> usual = divisors(cluster.sorted().tree().devices_in(LevelId{0}, 0));
    std::erase_if(usual, [](std::int64_t n) { return !is_power(n); });
    if (!narrow(space.tensor, usual)) return false;
  } else if (!narrow(space.tensor, powers_to(cluster.devices()))) {
    return false;
  }
  return narrow(space.pipeline, powers_to(cluster.devices())) &&
         narrow(space.data, powers_to(cluster.devices())) && narrow(space.interleave, powers_to(8));
}

// What makes a plan harder to run or to understand, and the space without it; false where that is empty.
struct Complication {
  const char* name;
  bool (*in_plan)(const Plan& plan);  // what degrees do not tell
  bool (*in_degrees)(const Parallelism& degrees);
  bool (*without)(const PlanInputs& inputs, SearchSpace& space);

  [[nodiscard]] bool in(const Plan& plan) const {
    return (in_plan != nullptr && in_plan(plan)) || (in_degrees != nullptr && in_degrees(plan.parallelism));
  }
  // Whether all of these degrees have it.
  [[nodiscard]] bool everywhere(const std::vector<Parallelism>& all) const {
    return in_degrees != nullptr && !all.empty() && std::all_of(all.begin(), all.end(), in_degrees);
  }
};

// Those that change least about a plan come first.
constexpr std::array<Complication, 8> kComplications{{
    {"interleaved chunks", [](const Plan& plan) { return plan.parallelism.interleave > 1; }, nullptr,
     [](const PlanInputs&, SearchSpace& space) { return narrow(space.interleave, {1}); }},
    {"recomputation that differs between layers or stages", recomputes_parts, nullptr, recompute_whole},
    {"strategies that differ between stages",
     [](const Plan& plan) {
       return std::any_of(plan.stages.begin(), plan.stages.end(),
                          [&](const Stage& s) { return !(s.strategy == plan.stages.front().strategy); });
     },
     nullptr, [](const PlanInputs&, SearchSpace& space) { return std::exchange(space.mixed, false); }},
    {"degrees that are no powers of two", odd_chunks, odd_degrees, even_degrees},
    {"context parallelism", nullptr, [](const Parallelism& p) { return p.strategy.context > 1; },
     [](const PlanInputs&, SearchSpace& space) { return narrow(space.context, {1}); }},
    {"expert parallelism", nullptr, [](const Parallelism& p) { return p.strategy.expert > 1; },
     [](const PlanInputs&, SearchSpace& space) { return narrow(space.expert, {1}); }},
    {"pipeline parallelism", nullptr, [](const Parallelism& p) { return p.pipeline > 1; },
     [](const PlanInputs&, SearchSpace& space) { return narrow(space.pipeline, {1}); }},
    {"tensor parallelism", nullptr, [](const Parallelism& p) { return p.strategy.tensor > 1; },
     [](const PlanInputs&, SearchSpace& space) { return narrow(space.tensor, {1}); }},
}};

std::int64_t count(const Plan& plan) {
  return std::count_if(kComplications.begin(), kComplications.end(),
                       [&](const Complication& c) { return c.in(plan); });
}

double fullest(const Plan& plan) {
  double share = 0;
  for (const Stage& stage : plan.stages) share = std::max(share, stage.memory->share());
  return share;
}

class Simplifier {
 public:
  Simplifier(const PlanQuestion& question, const SearchResult& strict, Further& further)
      : question_(question), strict_(strict), best_(strict.plans.front()), plan_(best_), further_(further) {
    question_.options.slowest = best_.predicted->step * (1 + kNear);
    question_.options.most_devices = best_.parallelism.devices();
    // To run modules again makes nothing simpler.
    const bool nothing = std::ranges::all_of(
        best_.stages, [](const Stage& s) { return s.recompute.policy == RecomputePolicy::none; });
    if (nothing) question_.space.module_sets = false;
  }

  Simpler run() {
    emptied_stages();
    for (const Complication& c : kComplications) {
      if (c.in(plan_) && !c.everywhere(strict_.near_degrees)) avoid(c);
    }
    fewer_devices();
    headroom();
    if (!changed_) return {};
    Simpler out{plan_, {}};
    for (const Complication& c : kComplications) {
      if (c.in(best_) && !c.in(plan_)) out.avoids.emplace_back(c.name);
    }
    if (const std::int64_t fewer = best_.parallelism.devices() - plan_.parallelism.devices(); fewer > 0)
      out.avoids.push_back(emptied_ ? format_digits(fewer) + " devices in stages that mostly wait"
                                    : "devices that gain little");
    if (roomier_) out.avoids.push_back("memory that is full to " + format_percent(fullest(best_), 0));
    if (out.avoids.empty()) return {};
    return out;
  }

 private:
  // The best plan of a question if it is near and no more complicated than the present one.
  std::optional<Plan> near(const PlanQuestion& question) {
    SearchResult found = further_.ask(question);
    if (found.plans.empty() || count(found.plans.front()) > count(plan_)) return std::nullopt;
    return std::move(found.plans.front());
  }

  void take(Plan plan) {
    plan_ = std::move(plan);
    changed_ = true;
  }

  void avoid(const Complication& complication) {
    PlanQuestion other = question_;
    if (!complication.without(other.inputs, other.space)) return;
    std::optional<Plan> found = near(other);
    if (!found || count(*found) >= count(plan_)) return;
    question_.space = std::move(other.space);
    take(std::move(*found));
  }

  // Takes the plan with the fewest devices that takes no longer than this, if that has fewer.
  bool take_fewest(Seconds slowest) {
    PlanQuestion other = question_;
    const Training& t = question_.training;
    other.options.slowest = slowest;
    other.options.objective = Objective::devices;
    other.options.target_tokens_per_s =
        static_cast<double>(t.global_batch) * static_cast<double>(t.sequence) / slowest.value;
    std::optional<Plan> found = near(other);
    if (!found || found->parallelism.devices() >= plan_.parallelism.devices()) return false;
    question_.options.most_devices = found->parallelism.devices();
    take(std::move(*found));
    return true;
  }

  // Where most of the step is waiting, idle devices are better than nearly empty stages: they can do something
  // else. What is simpler than that plan is then near to it, and still within the noise of the best.
  void emptied_stages() {
    if (best_.predicted->bubble_fraction <= kMostlyBubble) return;
    const Seconds slowest = best_.predicted->step * (1 + kNoise);
    emptied_ = take_fewest(slowest);
    if (emptied_) question_.options.slowest = std::min(slowest, plan_.predicted->step * (1 + kNear));
  }

  // Where some devices are idle anyway, no more should work than have to.
  void fewer_devices() {
    if (plan_.parallelism.devices() < question_.inputs.cluster.devices())
      (void)take_fewest(*question_.options.slowest);
  }

  // More room in memory at the same complications and devices.
  void headroom() {
    for (const double free : kHeadroom) {
      if (fullest(plan_) <= 1 - free) return;
      PlanQuestion other = question_;
      other.options.memory_margin = std::max(free, other.options.memory_margin);
      other.options.most_devices = plan_.parallelism.devices();
      std::optional<Plan> found = near(other);
      if (!found) continue;
      // What the plan is asked to keep free is still what the question asks.
      for (Stage& stage : found->stages) stage.memory->margin = best_.stages.front().memory->margin;
      take(std::move(*found));
      roomier_ = true;
      return;
    }
  }

  PlanQuestion question_;
  const SearchResult& strict_;
  const Plan& best_;
  Plan plan_;
  Further& further_;
  bool changed_ = false;
  bool emptied_ = false;
  bool roomier_ = false;
};

}  // namespace

std::vector<std::string> complications(const Plan& plan) {
  std::vector<std::string> out;
  for (const Complication& c : kComplications) {
    if (c.in(plan)) out.emplace_back(c.name);
  }
  return out;
}

Simpler simpler_plan(const PlanQuestion& question, const SearchResult& strict, Further& further) {
  return Simplifier(question, strict, further).run();
}

}  // namespace nest::solve
