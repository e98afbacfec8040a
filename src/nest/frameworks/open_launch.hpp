// A launch file of any kind, or a plan file, as a plan.
//
//   const OpenPlan open = open_launch(question, nullptr, warnings);   // its kind by what the file holds
#pragma once

#include "nest/frameworks/importers.hpp"

namespace nest::frameworks {

// `kind`: null: what the text shows; a plan is known by its key "parallelism" or "stages". A plan without inputs takes
// the question's model, cluster and recipe.
[[nodiscard]] OpenPlan open_launch(const ImportQuestion& question, const Importer* kind, Warnings& warnings);

}  // namespace nest::frameworks
