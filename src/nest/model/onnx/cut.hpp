// Where a flow is cut into layers: wherever a single value carries all that comes before to all that comes after. Blocks
// begin at such a cut before each self-attention; what comes before the first one is the embedding, and what is left
// after the last one, which is as long as the others, the head.
//
//   const std::vector<FlowStack> stacks = cut_flow(flow);    // one, or an encoder and a decoder
#pragma once

#include <cstddef>
#include <vector>

#include "nest/model/onnx/flow.hpp"

namespace nest::model {

struct FlowLayer {
  std::vector<std::size_t> ops;  // of the flow, sorted
  OnnxValueId in = kNoValue;     // none: the first one
  OnnxValueId out = kNoValue;    // none: several values
};

struct FlowStack {
  FlowLayer stem;
  std::vector<FlowLayer> blocks;
  FlowLayer head;                 // without operators where nothing comes after the blocks
  OnnxValueId memory = kNoValue;  // what a decoder reads of its encoder
};

[[nodiscard]] std::vector<FlowStack> cut_flow(const Flow& flow);

// A text that is equal for layers with equal operators.
[[nodiscard]] std::string signature(const Flow& flow, const std::vector<std::size_t>& ops);

}  // namespace nest::model
