// Functions of an ONNX file: graphs that nodes call by domain and name. Exporters write them for modules, or for
// operators that ONNX has not.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {

struct OnnxFunction {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> defaults;
  std::vector<OnnxNodeText> nodes;
};

// By domain and name.
using OnnxFunctions = std::map<std::pair<std::string, std::string>, OnnxFunction>;

void read_onnx_function(WireReader message, OnnxFunctions& out);

// The nodes with those that call functions replaced by the functions' own, under names that no other value has.
[[nodiscard]] std::vector<OnnxNodeText> without_functions(const std::string& file,
                                                          std::vector<OnnxNodeText> nodes,
                                                          const OnnxFunctions& functions);

inline constexpr std::size_t kMostOnnxNodes = 300'000;
inline constexpr std::size_t kMostOnnxNumbers = 1U << 24U;  // contents of small tensors, all together

}  // namespace nest::model
