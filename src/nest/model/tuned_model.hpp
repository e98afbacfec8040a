// A model of which only a part is trained: its layer graph with adapters put in, and every tensor marked of which no
// backward pass makes a gradient. What follows from that (no gradients, optimizer states and weight gradients of
// frozen weights, no backward pass before the first trained layer, less that is kept) the rooms that price layers read
// off those marks; layers that differ in them become layer types of their own.
//
//   const Model model = tuned(build_model(spec, options), tuning);
#pragma once

#include "nest/model/graph/model.hpp"
#include "nest/model/tuning.hpp"

namespace nest::model {

// Throws an InputError at --train or --freeze where the model has no such part.
[[nodiscard]] Model tuned(Model model, const Tuning& tuning);

}  // namespace nest::model
