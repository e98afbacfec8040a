// What differs between two plans, in words and in seconds.
//
//   tensor           8                      4
//   stage 0          layers 0-20            layers 0-40
//   tensor_s         2.40 s   1.10 s   -1.30 s
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::plan {

struct ChoiceDifference {
  std::string what;
  std::string first;
  std::string second;
};

struct TermDifference {
  std::string name;  // "compute", "bubble", ...
  Seconds first;
  Seconds second;

  [[nodiscard]] Seconds change() const { return second - first; }
};

struct PlanDifference {
  std::vector<ChoiceDifference> choices;
  std::vector<TermDifference> terms;  // of the breakdown, all ten; empty where a plan has no prediction
  Seconds first;                      // steps
  Seconds second;
};

// What the plans are for: model, cluster, and every key of the recipe that differs.
[[nodiscard]] std::vector<ChoiceDifference> diff_inputs(const PlanInputs& first, const PlanInputs& second);

// Both complete; predictions are compared where both have them.
[[nodiscard]] PlanDifference diff(const Plan& first, const Plan& second);

// {"first_s", "second_s", "choices": [{"what", "first", "second"}], "terms": [{"name", "first_s", "second_s",
// "change_s"}]}
[[nodiscard]] Value to_value(const PlanDifference& difference);
// The same of two plans with predictions, with how sure these are: "first", "second", as far as that is known.
[[nodiscard]] Value to_value(const PlanDifference& difference, const Plan& first, const Plan& second);

// The part of the step that grows most from the best plan to the other; none where none grows.
[[nodiscard]] std::optional<TermDifference> largest_loss(const Plan& best, const Plan& other);

// "layers 0-20, 41-60"
[[nodiscard]] std::string spell_layers(const std::vector<LayerId>& layers);

}  // namespace nest::plan
