// Why the best plan is as it is: for each of its degrees the neighbouring values, each with the best plan that has
// it, or with what stands in the way. Each is a search of its own.
//
//   why(question, best)   -> tensor 8: 3.61 s, 370 ms longer; pipeline 2: 3.30 s; zero 1: 82.1 GiB at least
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/solve/ask/why_not.hpp"

namespace nest::solve {

struct Alternative {
  std::string degree;  // "tensor": a name of space_options()
  std::string value;   // "8"
  WhyNot answer;
  // Where nothing fits: a plan with the value that needs no more memory than every such plan does, with results.
  std::optional<Plan> smallest;
};

struct Why {
  std::vector<Alternative> all;
  bool stopped = false;  // a limit came before all searches were done
};

// The question's own deadline holds besides.
struct WhyOptions {
  Seconds limit{20};                               // of all searches together
  std::function<void(const std::string&)> asking;  // told what is searched, before each search
};

// Values of the question's space next to those of the best plan: tensor, pipeline, context, expert, data, zero,
// recompute, schedule, micro-batch. What the question leaves no choice of is left out.
[[nodiscard]] Why why(const PlanQuestion& question, const Plan& best, const WhyOptions& options = {},
                      const SearchFunction& searching = ask);

}  // namespace nest::solve
