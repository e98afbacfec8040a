// Inside of operator_kernels.cpp: the kernels of matrix products, plain ones and those of experts, in 16 bits or in a
// low precision with its casts. A sample, of a product in fp8 whose inputs are cast once:
//
//   forward          fused (the cast), fp8_matmul
//   backward_input   fused (the gradient's cast), fp8_matmul
//   backward_weight  fp8_matmul
#pragma once

#include <vector>

#include "nest/estimate/operators/operator_kernels.hpp"

namespace nest::estimate {

void add_products(std::vector<KernelUse>& out, const LayerType& layer, const Operator& op,
                  const OperatorSettings& settings);

}  // namespace nest::estimate
