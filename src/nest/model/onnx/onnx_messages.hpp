// The messages of an ONNX file below its graph, with names as texts: tensors, nodes with their attributes, declared
// shapes. The numbers of fields are those of onnx.proto3.
#pragma once

#include <string>
#include <vector>

#include "nest/model/onnx/onnx_graph.hpp"
#include "nest/model/onnx/wire.hpp"

namespace nest::model {

struct OnnxNodeText {
  std::string op;
  std::string domain;
  std::vector<std::string> inputs;  // "" where one is left out
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;
};

struct OnnxDeclaredText {
  std::string name;
  OnnxDeclared declared;
};

[[nodiscard]] OnnxTensor read_onnx_tensor(WireReader message);
// Of a sparse tensor what its dense form would be.
[[nodiscard]] OnnxTensor read_sparse_tensor(WireReader message);
[[nodiscard]] OnnxAttribute read_onnx_attribute(WireReader message);
[[nodiscard]] OnnxNodeText read_onnx_node(WireReader message);
[[nodiscard]] OnnxDeclaredText read_onnx_declared(WireReader message);

// A name as messages show it: quoted, without control characters, and not longer than a line.
[[nodiscard]] std::string quoted_name(const std::string& name);

}  // namespace nest::model
