// Sentences that the strategies' rules share.
#pragma once

#include <cstdint>
#include <string>

#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

// "1 KV head", "8 KV heads"
inline std::string count_of(std::int64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

struct Division {
  std::string degree_name;
  std::int64_t degree = 1;
  std::int64_t size = 1;
  std::string noun;  // what there are `size` of
};

// "context 3 does not divide the 4096 positions of hidden in layer"
inline Refusal indivisible(const std::string& rule, const Division& d, const Tensor& tensor,
                           const LayerType& layer) {
  return {rule, d.degree_name + " " + std::to_string(d.degree) + " does not divide the " +
                    std::to_string(d.size) + " " + d.noun + " of " + tensor.name + " in " + layer.name};
}

}  // namespace nest::strategies
