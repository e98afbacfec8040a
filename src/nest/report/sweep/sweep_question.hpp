// A question with some of its input fields changed: what a point of a what-if study asks.
//
//   question_with({inputs, asked}, {{"cluster.levels.spine.bandwidth", "25GB/s"}, {"devices", "512"}})
//
// Fields: model, cluster, recipe (names or files); those of asked_fields() that may be varied (devices,
// global-batch, precision, for, tensor, zero, ..); any place in the files: cluster.levels.2.bandwidth (a
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

// What all points of a study have in common.
struct SweepBase {
  PlanInputs inputs;  // with all devices of the cluster
  Asked asked;
  // Several clusters are compared: at equal numbers of devices, also where the nodes of one do not divide it.
  bool several_clusters = false;
};

// Names before places, whatever their order; what is asked holds for every model and cluster. Throws an
// InputError where a field does not exist, a value does not fit it, or make_question refuses.
[[nodiscard]] PlanQuestion question_with(const SweepBase& base, const std::vector<FieldValue>& fields);

}  // namespace nest::report
