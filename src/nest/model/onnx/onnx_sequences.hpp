// Lists of tensors, which exporters make only to take their elements out again: SplitToSequence with SequenceAt at fixed
// places is a Split.
#pragma once

#include <vector>

#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {

// Places are constants among the nodes or the initializers.
[[nodiscard]] std::vector<OnnxNodeText> without_sequences(std::vector<OnnxNodeText> nodes,
                                                          const std::vector<OnnxTensor>& tensors);

}  // namespace nest::model
