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

// A weight of a product, or of each expert.
struct WeightMatrix {
  TensorIndex tensor = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t count = 1;  // of experts
};
// Those that a layer trains and Muon updates: of products in repeated blocks, each once. Embeddings, heads, norms and
// other vectors are none of them.
[[nodiscard]] std::vector<WeightMatrix> muon_matrices(const LayerType& layer);

}  // namespace nest::estimate
