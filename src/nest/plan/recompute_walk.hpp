// The policy of each layer of a stage, asked in the stage's order: where a number of layers recompute, they
// are the first that can, over all chunks.
#pragma once

#include <cstdint>

#include "nest/strategies/recompute.hpp"

namespace nest::plan {

class RecomputeWalk {
 public:
  explicit RecomputeWalk(const Recompute& recompute) : recompute_(recompute) {}

  // Of the next layer, which can recompute or not.
  LayerPolicy next(bool can) { return can ? recompute_.of_layer(recomputed_++) : LayerPolicy{}; }

 private:
  Recompute recompute_;
  std::int64_t recomputed_ = 0;  // layers so far that can
};

}  // namespace nest::plan
