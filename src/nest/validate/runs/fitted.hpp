// Every constant that was fitted to published runs, in one table, with the project whose runs it was fitted
// to (docs/step.md, "Constants"). Leaving a project's own constants out says what our predictions are worth
// for runs that nothing was fitted to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nest/cluster/accelerator.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::validate {

struct FittedConstant {
  std::string_view subject;  // a framework or an accelerator
  std::string_view what;
  double value = 1;
  double without = 1;        // what stands for it where it is left out
  std::string_view project;  // RunRow::project
};

[[nodiscard]] std::span<const FittedConstant> fitted_constants_of_runs();

// Puts a framework's constants into its recipe, those fitted to `left_out` apart.
void put_fitted(Recipe& recipe, std::string_view framework, const std::string& left_out = {});

// The accelerator as if no run of `left_out` had been seen.
[[nodiscard]] Accelerator without_fit(Accelerator accelerator, const std::string& left_out);

}  // namespace nest::validate
