// Patterns of a flow that are one operator to us: norms, activations and rotary positions that exporters write out in
// steps, attention as products around a softmax, gated activations, and what is split off the result of one product.
// fuse_flow does all of it, in the order in which one pattern needs another.
#pragma once

#include <vector>

#include "nest/model/onnx/flow.hpp"
#include "nest/model/onnx/mask.hpp"

namespace nest::model {

void fuse_flow(Flow& flow, MaskReader& masks);

// Weights behind a value that depends on positions and shapes: tables of learned positions, 1 + weight, but not the
// frequencies of sines.
[[nodiscard]] std::vector<FlowWeight> weights_behind(const Flow& flow, OnnxValueId value);

// Whether a constant of this shape is over queries and keys, for all heads or for each: a mask, or positions that an
// exporter has looked up already.
[[nodiscard]] bool is_square(const OnnxShape& dims);

// One after the other:
void settle_nodes(Flow& flow, MaskReader& masks);  // operators that are whole patterns in themselves
void settle_products(Flow& flow);                  // which factor is a weight, and how long the sums are
void join_biases(Flow& flow);  // what is added to the result of a product, one number for each feature
// Operators without products between a value and another one through which alone its influence goes on. `softmax`:
// whether a softmax may lie among them.
void join_regions(Flow& flow, bool softmax);
void join_attention(Flow& flow, MaskReader& masks);
void join_norm_weights(Flow& flow);
void split_products(Flow& flow);  // results that are cut into parts at once
void join_gates(Flow& flow);
void keep_parameters(Flow& flow);  // of what is left: what of the constants is a parameter

}  // namespace nest::model
