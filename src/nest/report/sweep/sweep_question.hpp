// A question with some of its input fields changed: what a point of a what-if study asks.
//
//   set_fields(question, {{"cluster.levels.spine.bandwidth", "25GB/s"}, {"devices", "512"}})
//
// Fields: model, cluster, recipe (names or files); devices, global-batch, sequence, precision, optimizer;
// every choice of the plan space (tensor, zero, ..); any place in the files: cluster.levels.2.bandwidth (a
// level by number or by name), cluster.accelerator.memory, recipe.overlap.tensor, model.num_hidden_layers
// (where the model is a file).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/question/question.hpp"

namespace nest::report {

using FieldValue = std::pair<std::string, std::string>;

// Names before places before devices, whatever their order. Throws an InputError where a field does not exist
// or a value does not fit it.
[[nodiscard]] PlanQuestion set_fields(PlanQuestion question, const std::vector<FieldValue>& fields);

}  // namespace nest::report
