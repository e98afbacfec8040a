// Options of `nest plan`: what to train, which plans to choose from, and how long to search.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "nest/solve/question.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Option> training_options();
[[nodiscard]] std::vector<Option> space_option_rows();
[[nodiscard]] std::vector<Option> search_options();

// Global batch, sequence, precision and optimizer; what is not said is the recipe's or the model's.
[[nodiscard]] Training read_training(const Arguments& arguments, const PlanInputs& inputs,
                                     Terminal& terminal);
[[nodiscard]] SearchSpace read_space(const Arguments& arguments);
[[nodiscard]] SearchOptions read_search_options(const Arguments& arguments);

}  // namespace nest::cli
