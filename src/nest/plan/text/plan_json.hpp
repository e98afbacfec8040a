// Plans as JSON (docs/formats/plan.md), in and out. What plan_value writes, read_plan reads back as the same
// plan, and writing that gives the same bytes.
//
//   {"training": {"global_batch": 1024, ..}, "parallelism": {"tensor": 8, ..}, "stages": [{"layers": [0, 1]}]}
#pragma once

#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::plan {

// One plan or one line for `nest evaluate`. What is left out stays open: Pricer::complete fills it in. Other
// keys are fine; a warning tells of those that are close to a known one.
[[nodiscard]] Plan read_plan(Reader& plan, const Recipe& recipe, Warnings& warnings);

// A plan file, with the inputs that it carries.
struct OpenPlan {
  Plan plan;
  PlanInputs inputs;
};
[[nodiscard]] OpenPlan read_plan_file(const Document& document, Warnings& warnings);
[[nodiscard]] OpenPlan open_plan(const std::string& file, Warnings& warnings);

// The whole contract's object; what the plan does not have (predictions, devices) is left out.
[[nodiscard]] Value plan_value(const Plan& plan, const PlanInputs& inputs);

// The keys of a plan's training for the dtypes that are not its recipe's.
void put_states(Value& training, const States& states);

// How sure a prediction is: "interval", "fits_probability" and "fits_at_least", as far as they are known.
void put_certainty(Value& out, const Prediction& predicted);

// Parts of it that other outputs use too.
[[nodiscard]] Value to_value(const Prediction& predicted);
[[nodiscard]] Value to_value(const StageTime& time);
[[nodiscard]] Value to_value(const StageMemory& memory);
[[nodiscard]] Value to_value(const Parallelism& parallelism, std::span<const Stage> stages);

}  // namespace nest::plan
