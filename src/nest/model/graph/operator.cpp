#include "nest/model/graph/operator.hpp"

#include <algorithm>

namespace nest::model {

const OperatorKindRow& row_of(OperatorKind kind) {
  using K = OperatorKind;
  //                                                   matrix keeps: inputs outputs
  static constexpr std::array<OperatorKindRow, 24> kRows{{
      {K::embedding, "embedding", false, true, false},
      {K::position, "position", false, false, false},
      {K::matmul, "matmul", true, true, false},
      {K::grouped_matmul, "grouped_matmul", true, true, false},
      {K::attention, "attention", true, true, true},
      {K::rms_norm, "rms_norm", false, true, false},
      {K::layer_norm, "layer_norm", false, true, false},
      {K::rotary, "rotary", false, false, false},
      {K::swiglu, "swiglu", false, true, false},
      {K::geglu, "geglu", false, true, false},
      {K::gelu, "gelu", false, true, false},
      {K::relu, "relu", false, false, true},
      {K::tanh, "tanh", false, false, true},
      {K::add, "add", false, false, false},
      {K::scale, "scale", false, true, false},
      {K::router, "router", false, false, true},
      {K::dispatch, "dispatch", false, false, false},
      {K::combine, "combine", false, true, false},
      {K::select, "select", false, false, false},
      {K::unfold, "unfold", false, false, false},
      {K::loss, "loss", false, false, false},
      {K::contrast, "contrast", false, true, false},
      {K::scan, "scan", true, true, false},
      {K::collective, "collective", false, false, false},
  }};
  return kRows[static_cast<std::size_t>(kind)];
}

Flops attention_flops(const AttentionSizes& sizes, const AttentionFacts& shape) {
  const auto q = static_cast<double>(sizes.queries);
  const auto k = static_cast<double>(sizes.keys);
  const double w = shape.window > 0 ? std::min<double>(static_cast<double>(shape.window), k) : k;
  // A query sees at most `window` keys and none after it: a triangle of side w, then a band of width w. Fewer queries
  // than that are the last ones.
  const double side = std::min(w, q);
  double pairs = shape.causal ? q * w - side * side / 2 : q * w;
  if (shape.packed) pairs = q * k * shape.packed->share(shape.causal, shape.window);
  return Flops{2.0 * static_cast<double>(sizes.batch * sizes.heads) * pairs *
               static_cast<double>(sizes.key_dim + sizes.value_dim)};
}

}  // namespace nest::model
