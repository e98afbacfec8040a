// A simpler plan in place of the best one, where it takes hardly longer. Predictions err by some percent, so
// that a plan within half a percent of the best is as good as the best; among such plans people want the one
// with the fewest complications: kinds of parallelism, chunks, recomputation of some layers alone, degrees
// that are no powers of two, devices beyond what is needed.
//
// Each complication of the best plan is tried by a search of the space without it, which counts only plans
// within kNear of the best and with no more devices; what is found replaces the plan, and the next complication is
// tried on that. Before that, where most of the best plan's step is bubble, its stages are hardly used: a plan with
// fewer devices stands in for it if it takes at most kNoise longer.
//
//   const Simpler found = simpler_plan(question, strict, further);
//   found.plan, found.avoids == {"interleaved chunks"}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/solve/ask/further.hpp"

namespace nest::solve {

// Where so much of the step is bubble, most of what the devices could do is lost to waiting.
inline constexpr double kMostlyBubble = 0.5;

struct Simpler {
  std::optional<Plan> plan;         // none: nothing simpler is near
  std::vector<std::string> avoids;  // complications of the best plan that it does not have
};

// The complications of a plan: "pipeline parallelism", "a degree that is no power of two", ...
[[nodiscard]] std::vector<std::string> complications(const Plan& plan);

// `strict` is the answer of ask() to the question, with a plan. The question's deadline and limits hold besides.
[[nodiscard]] Simpler simpler_plan(const PlanQuestion& question, const SearchResult& strict,
                                   Further& further);

}  // namespace nest::solve
