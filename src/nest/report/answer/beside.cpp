#include "nest/report/answer/beside.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "nest/base/numbers.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/solve/ask/counted.hpp"

namespace nest::report {
namespace {

std::string percent_of(double more) {
  return format_percent(std::abs(more));
}

struct Pair {
  const Plan& plan;
  const Plan& other;
  const Cluster& cluster;

  [[nodiscard]] double more(Objective objective) const {
    return counted_more(objective, plan, other, cluster);
  }
  [[nodiscard]] std::string time() const {
    return format(Seconds{std::abs((plan.predicted->step - other.predicted->step).value)});
  }
};

std::string longer_step(const Pair& p) {
  const double more = p.more(Objective::step_time);
  return fmt::format("takes {} {}", percent_of(more), more < 0 ? "less" : "longer");
}

std::string dearer(const Pair& p) {
  const double more = p.more(Objective::cost);
  return fmt::format("costs {} {} for a token", percent_of(more), more < 0 ? "less" : "more");
}

std::string more_devices(const Pair& p) {
  const std::int64_t more = p.plan.parallelism.devices() - p.other.parallelism.devices();
  return fmt::format("uses {} device{} {}", format_digits(std::abs(more)), std::abs(more) == 1 ? "" : "s",
                     more < 0 ? "fewer" : "more");
}

// How two plans are set beside each other, in the order of the objectives.
struct Words {
  std::string (*than)(const Pair& p);
  std::string (*longer)(const Pair& p);
  std::string (*costs)(const Pair& p);
  std::string (*has)(const Plan& plan, const Cluster& cluster);
};
constexpr std::array<Words, 3> kWords{{
    {[](const Pair& p) {
       const double more = p.more(Objective::step_time);
       return fmt::format("is {} ({}) {} than", p.time(), percent_of(more), more < 0 ? "faster" : "slower");
     },
     longer_step,
     [](const Pair& p) {
       return fmt::format("costs {} ({})", p.time(), percent_of(p.more(Objective::step_time)));
     },
     [](const Plan& plan, const Cluster&) { return format(plan.predicted->step) + " a step"; }},
    {[](const Pair& p) { return more_devices(p) + " than"; }, more_devices, more_devices,
     [](const Plan& plan, const Cluster&) {
       return fmt::format("{} a step on {} devices", format(plan.predicted->step),
                          format_digits(plan.parallelism.devices()));
     }},
    {[](const Pair& p) { return dearer(p) + " than"; }, dearer, dearer,
     [](const Plan& plan, const Cluster& cluster) {
       return fmt::format("{} a step on {} rented devices", format(plan.predicted->step),
                          format_digits(rented_devices(plan, cluster)));
     }},
}};

// The fewest devices are a matter of their number first, and of the step where that is equal.
Objective telling(Objective objective, const Plan& plan, const Plan& other) {
  const bool same = plan.parallelism.devices() == other.parallelism.devices();
  return objective == Objective::devices && same ? Objective::step_time : objective;
}

const Words& words_of(Objective objective) {
  return kWords[static_cast<std::size_t>(objective)];
}

}  // namespace

double Beside::more(const Plan& plan, const Plan& than) const {
  return counted_more(telling(asked.objective, plan, than), plan, than, inputs.cluster);
}

std::string Beside::than(const Plan& plan, const Plan& other) const {
  return words_of(telling(asked.objective, plan, other)).than({plan, other, inputs.cluster});
}

std::string Beside::longer(const Plan& plan, const Plan& other) const {
  return words_of(telling(asked.objective, plan, other)).longer({plan, other, inputs.cluster});
}

std::string Beside::costs(const Plan& plan, const Plan& other) const {
  return words_of(telling(asked.objective, plan, other)).costs({plan, other, inputs.cluster});
}

std::string Beside::has(const Plan& plan) const {
  return words_of(asked.objective).has(plan, inputs.cluster);
}

bool Beside::compares_steps(const Plan& plan, const Plan& other) const {
  return telling(asked.objective, plan, other) == Objective::step_time ||
         plan.parallelism.devices() == other.parallelism.devices();
}

void Beside::put_counted(Value& out, const Plan& plan) const {
  if (asked.objective != Objective::cost) return;
  out.set("rented_devices", rented_devices(plan, inputs.cluster))
      .set("token_cost_share", more(plan, taken()));
}

}  // namespace nest::report
