// The recipe of a published run: what its framework does, from the table in run_recipe.cpp, and what the row
// says besides (precision, compiled, all overlap off).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nest/recipe/recipe.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

struct RunRecipe {
  std::optional<Recipe> recipe;
  std::string why_not;  // where there is none
  // What the framework does where the row says nothing.
  std::int64_t zero = 0;
  bool sequence_parallel = false;
  bool flash = true;
};

// Constants fitted to the runs of the project `left_out` are left out.
[[nodiscard]] RunRecipe run_recipe(const RunRow& row, const std::string& left_out = {});

}  // namespace nest::validate
