// What of a stage's parameters one device has the optimizer's states of.
#pragma once

#include "nest/plan/zero.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/price/network/plan_network.hpp"

namespace nest::price {

[[nodiscard]] inline double sharded(double parameters, const ParameterGroup& group) {
  return parameters / static_cast<double>(group.shards);
}

// Parameters whose optimizer states one device has.
[[nodiscard]] inline double held_parameters(const LayerTerms& t, const StageNetwork& network, Zero zero,
                                            double tied) {
  const double dense = t.of(Term::dense_parameters) + tied;
  const double expert = t.of(Term::expert_parameters);
  return zero.shards_optimizer() ? sharded(dense, network.dense) + sharded(expert, network.expert)
                                 : dense + expert;
}

}  // namespace nest::price
