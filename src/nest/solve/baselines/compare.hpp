// Asks the search and the baselines the same question and compares their plans.
//
//   const Comparison all = compare(question, {"manual", "phaze"}, {});
//   all.plans[0].name == "nest", all.plans[1].relative, all.plans[1].loses->name == "bubble"
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/plan/text/diff.hpp"
#include "nest/solve/baselines/common/baseline.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {

struct CompareOptions {
  BaselineOptions baseline;
  // Degrees that were given, each with the name of its row; they are further plans.
  std::vector<std::pair<std::string, GivenDegrees>> degrees;
  // Baselines of whoever asks, each with its name: further plans after those.
  std::vector<std::pair<std::string, std::function<BaselineResult(const PlanQuestion&)>>> own;
  std::function<void(std::string_view)> asking;  // before each: its name
};

struct ComparedPlan {
  std::string name;       // "nest", "manual", ..
  BaselineResult result;  // nest's status may be optimal, and is limit where a limit came first
  // Where both have a plan that fits: throughput as a share of nest's, and the term of the breakdown by which
  // it loses most seconds a step (none where it loses by none).
  std::optional<double> relative;
  std::optional<TermDifference> loses;
};

struct Comparison {
  std::vector<ComparedPlan> plans;  // nest first, then as asked
  SearchResult found;               // nest's

  [[nodiscard]] const ComparedPlan* find(std::string_view name) const;
};

// Names as in baselines(); an unknown one is a broken invariant. All see the same question. They share its
// deadline: the search has half of the time, the others equal parts of what is left.
[[nodiscard]] Comparison compare(const PlanQuestion& question, const std::vector<std::string>& names,
                                 const CompareOptions& options);

}  // namespace nest::solve
