// An ONNX file as a graph of nodes in an order in which they can run. Functions that the file brings along are put in
// place of the nodes that call them, and constants stand with the initializers. Weights are not read, and files beside the
// model, which hold weights, are never opened.
//
//   ByteSource bytes = ByteSource::file("model.onnx");
//   const OnnxGraph graph = read_onnx_graph(bytes);
#pragma once

#include "nest/model/onnx/onnx_graph.hpp"
#include "nest/model/onnx/wire.hpp"

namespace nest::model {

// Throws an InputError for what is no ONNX file, has no graph, or has a graph that cannot run: values that nobody
// makes or that are made twice, and circles.
[[nodiscard]] OnnxGraph read_onnx_graph(ByteSource& bytes);

}  // namespace nest::model
