// What an objective counts of a plan, for whoever sets two plans of one question side by side: the seconds of a step,
// the devices that it uses or, of costs, the seconds of rented devices for a step. All plans of a question train on
// as many tokens in a step, so that this is the cost of a token but for a factor.
//
//   counted(Objective::cost, plan, cluster)   -> 2,112: 33 s on 64 rented devices
#pragma once

#include "nest/cluster/cluster.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"

namespace nest::solve {

// Of a plan with results and devices; with a step in place of its own, such as a bound.
[[nodiscard]] double counted(Objective objective, const Plan& plan, const Cluster& cluster);
[[nodiscard]] double counted(Objective objective, const Plan& plan, Seconds step, const Cluster& cluster);

// By what share more is counted of a plan than of another; below 0 for less.
[[nodiscard]] double counted_more(Objective objective, const Plan& plan, const Plan& than,
                                  const Cluster& cluster);

}  // namespace nest::solve
