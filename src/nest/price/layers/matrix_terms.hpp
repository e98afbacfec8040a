// What Muon makes of a layer: which of its parameters are matrices, and how long it takes to orthogonalize them on one
// device. Matrices are the weights of products in repeated blocks; embeddings, heads, norms and other vectors are Adam's.
// Each tensor rank orthogonalizes its own part of a matrix, as Megatron-LM's --muon-tp-mode blockwise does.
//
//   add_matrix_terms(shard_layer(type, strategy), *shared_kernel_times(accelerator), 1, terms)
//   terms.of(Term::matrix_dense), terms.of(Term::orthogonal_dense)
#pragma once

#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::price {

// Every kernel takes `kernel_time` times as long as estimated.
void add_matrix_terms(const ShardedLayer& sharded, const KernelTimes& times, double kernel_time,
                      LayerTerms& terms);

}  // namespace nest::price
