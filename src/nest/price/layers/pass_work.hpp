// What a layer's passes take on the device and in its groups, in seconds: all but copies to host memory.
#pragma once

#include "nest/price/layers/layer_table.hpp"

namespace nest::price {

[[nodiscard]] inline double forward_work(const LayerTerms& t) {
  return t.of(Term::forward) + t.of(Term::forward_tensor) + t.of(Term::forward_expert) +
         t.of(Term::forward_context);
}

// With what is recomputed.
[[nodiscard]] inline double backward_work(const LayerTerms& t) {
  return t.of(Term::backward_input) + t.of(Term::backward_weight) + t.of(Term::recompute) +
         t.of(Term::backward_tensor) + t.of(Term::backward_expert) + t.of(Term::backward_context);
}

}  // namespace nest::price
