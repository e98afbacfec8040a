// Options of `nest plan`: what to train, which plans to choose from, and how long to search.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "nest/question/question.hpp"
#include "nest/question/space_options.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Option> training_options();
[[nodiscard]] std::vector<Option> space_option_rows();
[[nodiscard]] std::vector<Option> search_options();

// Global batch, sequence, precision and optimizer; what is not said is the recipe's or the model's.
[[nodiscard]] Training read_training(const Arguments& arguments, const PlanInputs& inputs,
                                     Terminal& terminal);
// A whole number from least to most; outside it is an InputError.
[[nodiscard]] std::int64_t whole_within(const Arguments& arguments, const std::string& option,
                                        std::int64_t fallback, std::int64_t least, std::int64_t most);
// A share: "5%" and "0.05" are the same; 0 where the option is missing.
[[nodiscard]] double read_share(const Arguments& arguments, const std::string& option);
// A time; the option must be there.
[[nodiscard]] double read_seconds(const Arguments& arguments, const std::string& option);
// A UsageError, or an InputError where the text is understood.
[[noreturn]] void refuse(const std::string& option, const SpaceProblem& problem);
[[nodiscard]] SearchSpace read_space(const Arguments& arguments);
[[nodiscard]] SearchOptions read_search_options(const Arguments& arguments);

}  // namespace nest::cli
