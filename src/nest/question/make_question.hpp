// The one place where a question is put together and checked, whoever asks it: the command line, the server,
// a sweep, lint, a program that uses the library.
//
//   Asked asked;
//   asked.framework = "megatron";
//   const PlanInputs inputs = load_inputs("t5-11b", "h100-spine-leaf", "megatron", warnings);
//   make_question(inputs, asked).notes[0]
//       -> "without a pipeline: Megatron-LM cannot cut t5-11b into stages"
#pragma once

#include "nest/base/document/value.hpp"
#include "nest/question/question.hpp"

namespace nest::question {

// Fills in defaults (a global batch of 1,024 sequences; of the sequence the model's positions, at most 8,192;
// precision and optimizer of the recipe), cuts the cluster to the devices that are asked for and applies the
// rules of the framework. Throws an AskedError where a field does not go with the inputs or with another
// field, and an InputError where the cluster cannot be cut so or the model cannot be built.
[[nodiscard]] PlanQuestion make_question(PlanInputs inputs, const Asked& asked = {});

// The same inputs and search options, with something else asked of the choices or of the training.
[[nodiscard]] PlanQuestion ask_otherwise(const PlanQuestion& question, const Asked& asked);

// What make_question would refuse of the training in a question that was changed or put together by hand;
// throws the same. Rules of frameworks are for make_question alone: spaces of further searches are narrower.
void check_question(const PlanQuestion& question);

// The question that a plan answers, as far as it says: its training on its cluster, with all choices free. A plan that
// no search has found has the devices that it uses; one of a search also had those that are idle.
[[nodiscard]] PlanQuestion question_of(const Plan& plan, const PlanInputs& inputs,
                                       PipelineModel pipeline_model = PipelineModel::one_f_one_b);

// Everything that the answer depends on, in an order that is always the same: two front ends that ask the
// same have equal values.
[[nodiscard]] Value to_value(const PlanQuestion& question);

}  // namespace nest::question
