// A layer type: the operator graph of one layer, stored once however often the model repeats it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/model/graph/tensor.hpp"

namespace nest::model {

struct LayerType {
  std::string name;  // "decoder", "moe_decoder", "embedding", ...
  std::vector<Tensor> tensors;
  bool is_block = false;            // one of the repeated blocks, not an embedding or a head
  std::vector<Operator> operators;  // in an order in which they can run
  std::vector<TensorIndex> inputs;  // what comes over edges, in order
  std::vector<TensorIndex> outputs;
  // Of the routed experts' parameters, the share that one token uses: top-k / experts.
  double active_expert_share = 1;

  [[nodiscard]] const Tensor& tensor(TensorIndex i) const { return tensors[i]; }

  // Parameters in the published count, those apart from it, and those that are trained in another layer.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t apart_parameters() const;
  [[nodiscard]] std::int64_t shared_parameters() const;
  [[nodiscard]] std::int64_t expert_parameters() const;  // of parameters(): with an experts axis
  [[nodiscard]] std::int64_t active_parameters() const;

  [[nodiscard]] Flops forward_flops() const;
  [[nodiscard]] Bytes output_bytes() const;
  // What one micro-batch keeps from forward to backward: each kept tensor once, whoever keeps it.
  [[nodiscard]] Bytes stash_bytes() const;

  [[nodiscard]] Bytes bytes_read(const Operator& op) const;
  [[nodiscard]] Bytes bytes_written(const Operator& op) const;
  [[nodiscard]] std::int64_t parameters(const Operator& op) const;  // shared ones left out
};

}  // namespace nest::model
