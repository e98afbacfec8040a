// The answer to somebody who will run the plan: the strict optimum with its proof, as ask() finds it, a simpler
// plan in its place where one takes hardly longer, what it costs that the plan fits in memory with some
// certainty, and whether another batch would be much faster. Whoever compares steps (sweeps, sizes, baselines, proofs) calls ask() instead.
//
//   const SearchResult found = answer(question);
//   found.plan()      the plan to take
//   found.plans       the strict ranking; found.lower_bound is about its first
//   found.risky       faster, but fits with 51 % only
//   found.further_stopped   the clock was faster than all of this: with more time the answer may be another
#pragma once

#include <functional>
#include <string>

#include "nest/solve/ask/search.hpp"

namespace nest::solve {

struct AnswerOptions {
  std::function<void(const std::string&)> asking;  // told what is looked for, before each further search
};

// No simpler plan is looked for where `strict` is asked, several plans, a gap or the fewest devices. The plan to take
// has the status and the bound of the search.
[[nodiscard]] SearchResult answer(const PlanQuestion& asked, const AnswerOptions& options = {},
                                  const SearchFunction& searching = ask);

}  // namespace nest::solve
