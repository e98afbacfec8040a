// What an expert does by hand, after the Megatron-LM papers and NVIDIA's guides: tensor parallelism within
// the node as wide as the model needs, then the fewest pipeline stages that fit with equal numbers of blocks,
// data parallelism for the rest, recomputation only where nothing fits without it, the micro-batch by trial.
//
//   const BaselineResult manual = find_manual(question, {});
//   manual.plan->parallelism   tensor 8, pipeline 4, data 32, ZeRO 1
//
// With degrees that somebody else chose (BaselineOptions::degrees), see given_degrees.hpp.
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// A pinned choice of the question's space comes before the expert's rule for it.
[[nodiscard]] BaselineResult find_manual(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
