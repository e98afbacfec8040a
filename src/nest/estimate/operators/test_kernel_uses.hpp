// For tests of kernels: what an operator runs in a pass, and operators by name.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "nest/estimate/operators/operator_kernels.hpp"

namespace nest::test {

inline std::vector<estimate::KernelKind> kinds(const std::vector<estimate::KernelUse>& uses,
                                               estimate::Pass pass) {
  std::vector<estimate::KernelKind> out;
  for (const estimate::KernelUse& use : uses) {
    if (use.pass == pass) out.push_back(use.call.kind);
  }
  return out;
}

inline const model::Operator& find(const model::LayerType& layer, const std::string& name) {
  for (const model::Operator& op : layer.operators) {
    if (op.name == name) return op;
  }
  throw std::runtime_error("no operator " + name);
}

}  // namespace nest::test
