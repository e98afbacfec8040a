#include "nest/price/layers/matrix_terms.hpp"

#include <algorithm>

#include "nest/estimate/kernels/orthogonalization.hpp"
#include "nest/estimate/operators/operator_products.hpp"

namespace nest::price {

void add_matrix_terms(const ShardedLayer& sharded, const KernelTimes& times, double kernel_time,
                      LayerTerms& terms) {
  const LayerType& layer = sharded.layer;
  const auto is_expert = [&](TensorIndex tensor) {
    return std::ranges::any_of(
        sharded.parameters, [&](const ParameterFact& fact) { return fact.tensor == tensor && fact.expert; });
  };
  for (const WeightMatrix& matrix : muon_matrices(layer)) {
    const bool expert = is_expert(matrix.tensor);
    const auto count = static_cast<double>(matrix.count);
    terms.of(expert ? Term::matrix_expert : Term::matrix_dense) +=
        static_cast<double>(elements(layer.tensor(matrix.tensor).shape));
    terms.of(expert ? Term::matrices_expert : Term::matrices_dense) += count;
    terms.of(expert ? Term::orthogonal_expert : Term::orthogonal_dense) +=
        count * kernel_time * orthogonalization(matrix.rows, matrix.columns, times).value;
  }
}

}  // namespace nest::price
