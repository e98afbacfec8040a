// Options of all commands that price plans: what the plan is for, and how pipelines are modelled.
#pragma once

#include <optional>

#include "command.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Option> input_options();
[[nodiscard]] Option like_option();
[[nodiscard]] Option calibration_option();
[[nodiscard]] Option pipeline_model_option();

// Whether any of the input options is given.
[[nodiscard]] bool names_inputs(const Arguments& arguments);
[[nodiscard]] PlanInputs read_plan_inputs(const Arguments& arguments, Warnings& warnings);
// Puts what the options name in place of what a plan carries.
void override_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings);
// What --calibration names; none without it.
[[nodiscard]] std::optional<Calibration> read_calibration_option(const Arguments& arguments);
void calibrate_inputs(PlanInputs& inputs, const Arguments& arguments, Warnings& warnings);
[[nodiscard]] PipelineModel read_pipeline_model(const Arguments& arguments);

// The options of a command that takes plan files, with those for what a file does not say of its inputs and
// its training, or says otherwise.
[[nodiscard]] std::vector<Option> with_plan_file_options(std::vector<Option> own);
// A plan file as if it said what these options say.
[[nodiscard]] Document read_plan_document(const std::string& file, const Arguments& arguments);

// A plan file with what it leaves open filled in.
[[nodiscard]] OpenPlan open_complete_plan(const std::string& file, const Arguments& arguments,
                                          Terminal& terminal);
// A plan or its degrees: what it does not carry is what the options name.
[[nodiscard]] OpenPlan open_degrees(const std::string& file, const Arguments& arguments, Warnings& warnings);

}  // namespace nest::cli
