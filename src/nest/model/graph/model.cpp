#include "nest/model/graph/model.hpp"

namespace nest::model {

std::int64_t Model::parameters() const {
  std::int64_t n = 0;
  for (const Layer& layer : layers) n = plus(n, types[layer.type].parameters());
  return n;
}

std::int64_t Model::active_parameters() const {
  std::int64_t n = 0;
  for (const Layer& layer : layers) n += types[layer.type].active_parameters();
  return n;
}

std::int64_t Model::trained_parameters() const {
  std::int64_t n = 0;
  for (const Layer& layer : layers) n += types[layer.type].trained_parameters();
  return n;
}

Flops Model::forward_flops() const {
  Flops total;
  for (const Layer& layer : layers) total += types[layer.type].forward_flops();
  return total;
}

Flops Model::saved_flops() const {
  Flops total;
  for (const Layer& layer : layers) total += types[layer.type].saved_flops();
  return total;
}

Flops Model::forward_flops_per_token() const {
  return Flops{forward_flops().value / static_cast<double>(micro_batch * sequence)};
}

std::int64_t Model::blocks() const {
  std::int64_t n = 0;
  for (const Layer& layer : layers) n += types[layer.type].is_block() ? 1 : 0;
  return n;
}

}  // namespace nest::model
