// Which kernels an operator runs, forward and backward, as plain PyTorch runs it: products, the sums of bias
// gradients, additions where gradients of several users of a tensor meet. A sample, for one product with
// bias:
//
//   forward    matmul/forward 8192 4096 4096
//   backward   matmul/input .., matmul/weight .., bias_gradient 8192 4096
#pragma once

#include <vector>

#include "nest/estimate/kernels/kernel_model.hpp"
#include "nest/model/graph/layer.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::estimate {

enum class Pass {
  forward,
  backward_input,   // gradients that earlier layers wait for
  backward_weight,  // gradients of parameters, which may wait
};

struct OperatorSettings {
  // q, k and v, and gate and up, as one product each (Megatron) or as several (the layers of plain PyTorch).
  bool fused_projections = false;
  // Rotary positions, gated activations and the routing of tokens to experts in one pass each (Megatron).
  bool fused_passes = false;
  bool plain_norms = false;  // RMS norms as a chain of 32-bit operations (Transformers)
  // Element-wise operators fused into few passes over memory (torch.compile).
  bool compiled = false;
  Precision precision = Precision::bf16;  // of products of weights; see LayerType::low_product
  // Operands are cast to a low precision before each product, and kept in 16 bits; otherwise inputs once, and
  // weights once a step, with the update.
  bool cast_each_use = true;
  bool low_gathers = false;              // tensor ranks gather operands of low precision as they are used
  double grouped_share = 1;              // time of a grouped product in low precision over that in 16 bits
  CudaGraphs graphs = CudaGraphs::none;  // what the host launches at once
  double host_time = 1;                  // issuing a kernel, over plain PyTorch
  double attention_time = 1;             // of flash attention kernels: see flash_time
  double masked_time = 0;          // where windows are masks over all keys: of the kernels that take a mask
  bool ring_merges_steps = false;  // rings of context ranks do not hold the results of all their steps

  bool operator==(const OperatorSettings&) const = default;
};

struct KernelUse {
  KernelCall call;
  Pass pass = Pass::forward;
  double repeats = 1;
  int launches = 1;  // kernels that one repeat issues
};

// OperatorSettings::grouped_share of a device.
[[nodiscard]] double grouped_share(const DeviceRates& rates, Precision precision);

// The tensors are one device's shard. Collectives run none.
[[nodiscard]] std::vector<KernelUse> kernels_of(const LayerType& layer, const Operator& op,
                                                const OperatorSettings& settings);

// Additions in the backward pass, where several operators used one tensor.
[[nodiscard]] std::vector<KernelUse> gradient_sums(const LayerType& layer, const OperatorSettings& settings);

}  // namespace nest::estimate
