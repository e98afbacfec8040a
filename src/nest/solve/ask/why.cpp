#include "nest/solve/ask/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/question/module_points.hpp"
#include "nest/question/recompute_choices.hpp"

namespace nest::solve {
namespace {

using Values = std::vector<std::string>;

// The next value below and the next above.
Values neighbours(const std::set<std::int64_t>& values, std::int64_t own) {
  Values out;
  const auto above = values.upper_bound(own);
  const auto at = values.lower_bound(own);
  if (at != values.begin()) out.push_back(std::to_string(*std::prev(at)));
  if (above != values.end()) out.push_back(std::to_string(*above));
  return out;
}

template <class Get>
Values next_strategies(const PlanQuestion& q, const Plan& best, Get get) {
  std::set<std::int64_t> values;
  for (const Strategy& s : strategy_values(q.inputs, q.training, q.space)) values.insert(get(s));
  return neighbours(values, get(best.parallelism.strategy));
}

Values next_tensor(const PlanQuestion& q, const Plan& best) {
  return next_strategies(q, best, [](const Strategy& s) { return s.tensor; });
}

Values next_context(const PlanQuestion& q, const Plan& best) {
  return next_strategies(q, best, [](const Strategy& s) { return s.context; });
}

Values next_expert(const PlanQuestion& q, const Plan& best) {
  return next_strategies(q, best, [](const Strategy& s) { return s.expert; });
}

// Of those with which cells like the best plan's fill all devices.
Values next_pipeline(const PlanQuestion& q, const Plan& best) {
  std::int64_t layers = 0;
  for (const Stage& stage : best.stages) layers += static_cast<std::int64_t>(stage.layers.size());
  const std::int64_t cell = best.parallelism.strategy.cell();
  std::set<std::int64_t> values;
  for (const std::int64_t p : divisors(q.inputs.cluster.devices() / cell)) {
    if (p <= layers && q.space.pipeline.has(p)) values.insert(p);
  }
  return neighbours(values, best.parallelism.pipeline);
}

Values next_data(const PlanQuestion& q, const Plan& best) {
  std::set<std::int64_t> values;
  for (const std::int64_t d : divisors(q.inputs.cluster.devices())) {
    if (q.training.global_batch % d == 0 && q.space.data.has(d)) values.insert(d);
  }
  return neighbours(values, best.parallelism.data);
}

Values next_zero(const PlanQuestion& q, const Plan& best) {
  std::set<std::int64_t> values;
  for (const Zero zero : Zero::all()) {
    if (q.space.zero.has(zero.number())) values.insert(zero.number());
  }
  return neighbours(values, best.parallelism.zero.number());
}

// All policies where stages differ or recompute a part of their layers.
Values next_recompute(const PlanQuestion& q, const Plan& best) {
  constexpr std::array kPolicies{RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::modules,
                                 RecomputePolicy::full};  // less first
  const RecomputeChoices choices(q.space.recompute, points_of(q.inputs, q.training, q.space));
  const Recompute own = best.stages.front().recompute;
  const bool whole = own.layers == 0 && std::all_of(best.stages.begin(), best.stages.end(),
                                                    [&](const Stage& s) { return s.recompute == own; });
  Values out;
  const auto* const mine = std::ranges::find(kPolicies, own.policy);
  for (const auto* policy_at = kPolicies.begin(); policy_at != kPolicies.end(); ++policy_at) {
    const RecomputePolicy policy = *policy_at;
    const bool known = choices.allows(policy) && (q.space.rules == nullptr || q.space.rules->has(policy)) &&
                       !(policy == RecomputePolicy::selective && q.inputs.profile() != nullptr);
    const auto away = policy_at - mine;
    if (known && (!whole || away == 1 || away == -1)) out.emplace_back(name_of(policy));
  }
  return out;
}

Values next_schedule(const PlanQuestion& q, const Plan& best) {
  Values out;
  if (best.parallelism.pipeline == 1) return out;
  for (const Schedule schedule : schedule_values(q.space)) {
    if (schedule != best.parallelism.schedule) out.emplace_back(name_of(schedule));
  }
  return out;
}

Values next_micro_batch(const PlanQuestion& q, const Plan& best) {
  const std::vector<std::int64_t> all = micro_batch_values(q.inputs, q.training, q.space);
  return neighbours({all.begin(), all.end()}, best.training.micro_batch);
}

struct DegreeRow {
  const char* name;
  Values (*next)(const PlanQuestion& question, const Plan& best);
};
constexpr std::array<DegreeRow, 9> kDegrees{{{"tensor", next_tensor},
                                             {"pipeline", next_pipeline},
                                             {"context", next_context},
                                             {"expert", next_expert},
                                             {"data", next_data},
                                             {"zero", next_zero},
                                             {"recompute", next_recompute},
                                             {"schedule", next_schedule},
                                             {"micro-batch", next_micro_batch}}};

// A plan with the choice on devices with just as much memory as is needed.
std::optional<Plan> smallest_plan(const PlanQuestion& question, const std::string& choice, Bytes memory,
                                  const SearchFunction& searching) {
  try {
    PlanQuestion changed = with_choice(question, choice);
    changed.inputs = with_memory(changed.inputs, memory);
    changed.options.gap = kAnyPlan;
    changed.options.least_memory = false;
    SearchResult found = searching(changed);
    if (found.plans.empty()) return std::nullopt;
    return std::move(found.plans.front());
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

Why why(const PlanQuestion& question, const Plan& best, const WhyOptions& options,
        const SearchFunction& searching) {
  Why out;
  for (const DegreeRow& row : kDegrees) {
    for (std::string& value : row.next(question, best)) {
      Alternative& one = out.all.emplace_back();
      one.degree = row.name;
      one.value = std::move(value);
      one.answer.choice = one.degree + "=" + one.value;
      one.answer.found.status = PlanStatus::limit;  // until it is searched
    }
  }
  const Deadline whole = question.options.deadline.within(options.limit);
  PlanQuestion asking = question;
  asking.options.top = 1;
  asking.options.runners_up = 0;
  for (std::size_t i = 0; i < out.all.size() && !whole.over(); ++i) {
    Alternative& one = out.all[i];
    const std::string choice = one.answer.choice;
    if (options.asking) options.asking(choice);
    asking.options.deadline = whole.within(*whole.left() / static_cast<double>(out.all.size() - i));
    one.answer = why_not(asking, choice, best, searching);
    const Bytes least = one.answer.found.least_memory;
    if (one.answer.found.plans.empty() && least.value > 0)
      one.smallest = smallest_plan(asking, choice, least, searching);
  }
  out.stopped = std::any_of(out.all.begin(), out.all.end(), [](const Alternative& one) {
    return one.answer.found.status == PlanStatus::limit || one.answer.found.status == PlanStatus::feasible;
  });
  return out;
}

}  // namespace nest::solve
