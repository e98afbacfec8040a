// A simpler plan in place of the best one, where it takes hardly longer. Predictions err by some percent, so
// that a plan within half a percent of the best is as good as the best; among such plans people want the one
// with the fewest complications: kinds of parallelism, chunks, recomputation of some layers alone, degrees
// that are no powers of two, devices beyond what is needed.
//
// Each complication of the best plan is tried by a search of the space without it, which counts only plans
// within kNear of the best; what is found replaces the plan, and the next complication is tried on that.
//
//   const Simpler found = simpler_plan(question, strict, further);
//   found.plan, found.avoids == {"interleaved chunks"}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/solve/ask/further.hpp"

namespace nest::solve {

// Steps that differ by a smaller share cannot be told apart: predictions of single steps err by 3 % in the median,
// and two plans of one question share a part of that.
inline constexpr double kNoise = 0.02;

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
