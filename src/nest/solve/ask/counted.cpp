#include "nest/solve/ask/counted.hpp"

#include "nest/plan/rules/rented_plan.hpp"

namespace nest::solve {

double counted(Objective objective, const Plan& plan, const Cluster& cluster) {
  return counted(objective, plan, plan.predicted->step, cluster);
}

double counted(Objective objective, const Plan& plan, Seconds step, const Cluster& cluster) {
  switch (objective) {
    case Objective::step_time:
      break;
    case Objective::devices:
      return static_cast<double>(plan.parallelism.devices());
    case Objective::cost:
      return step.value * static_cast<double>(rented_devices(plan, cluster));
  }
  return step.value;
}

double counted_more(Objective objective, const Plan& plan, const Plan& than, const Cluster& cluster) {
  return counted(objective, plan, cluster) / counted(objective, than, cluster) - 1;
}

}  // namespace nest::solve
