// Turns the result of a search that saw another cluster than the real one (a flat network, or unlimited
// memory) into a plan for the real cluster: it tries the plans in their order until one is feasible.
//
//   BaselineResult result;
//   judge_first_fitting(search(..flat..), question, result);     result.believed: what the search thought
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {

// How many plans of such a search are tried.
inline constexpr int kPlansTried = 8;

// The plan's choices for the question's cluster, without devices and results. Sizes that follow from the
// tree of domains (block_devices, zero_shards) stay where the question's space has them there; else they are
// the tightest block and the whole group.
[[nodiscard]] Plan choices_on_cluster(Plan plan, const PlanQuestion& question);

// Of the first plan of `found` that is feasible: status, plan, believed. Of none: the first, with its reason.
void judge_first_fitting(const SearchResult& found, const PlanQuestion& question, BaselineResult& result);

// Bytes that the fullest device of a plan with results holds beyond its memory; 0 where it fits.
[[nodiscard]] Bytes excess_memory(const Plan& plan);

}  // namespace nest::solve
