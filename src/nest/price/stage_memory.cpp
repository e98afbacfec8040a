// The memory of a stage's devices, and of their share of the host.
#include <algorithm>

#include "nest/estimate/layers/fixed_memory.hpp"
#include "nest/price/held_parameters.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {

Bytes StageCoster::update(const LayerTerms& t, const StageNetwork& network, Zero zero, double tied) const {
  if (recipe_.offload.optimizer) return {};
  return round_up_bytes(recipe_.step_bytes * held_parameters(t, network, zero, tied));
}

StageMemory StageCoster::memory(const LayerTerms& t, const StageNetwork& network, Zero zero, double tied,
                                Bytes stashes, const Keeping& keeping) const {
  const Recipe& recipe = recipe_;
  const double dense = t.of(Term::dense_parameters) + tied;
  const double expert = t.of(Term::expert_parameters);
  const double all = dense + expert;
  const double part = sharded(dense, network.dense) + sharded(expert, network.expert);
  const double frozen_dense = t.of(Term::frozen_dense);
  const double frozen_expert = t.of(Term::frozen_expert);
  const double frozen = zero.shards_parameters()
                            ? sharded(frozen_dense, network.dense) + sharded(frozen_expert, network.expert)
                            : frozen_dense + frozen_expert;
  StageMemory m;
  const double held = zero.shards_parameters() ? part : all;
  const double low = all > 0 ? t.of(Term::low_parameters) / all : 0;
  m.weights = round_up_bytes(held * (static_cast<double>(recipe.weight_bytes_per_parameter()) +
                                     low * recipe.low_bytes_per_parameter()) +
                             frozen);
  const bool parts = zero.shards_gradients() && !reduces_late(zero, keeping.stages);
  m.gradients =
      round_up_bytes((parts ? part : all) * static_cast<double>(recipe.gradient_bytes_per_parameter()));
  const auto states = static_cast<double>(recipe.optimizer_bytes_per_parameter());
  if (recipe.offload.optimizer) {
    // On the device stays one bucket: gradients on their way out, and weights on their way back.
    const std::int64_t shards =
        zero.shards_optimizer() ? std::min(network.dense.shards, network.expert.shards) : 1;
    m.optimizer =
        round_up_bytes(t.largest_parameters / static_cast<double>(shards) *
                       static_cast<double>(size_of(recipe.gradient_dtype) + size_of(recipe.parameter_dtype)));
    m.host = round_up_bytes(held_parameters(t, network, zero, tied) *
                            static_cast<double>(recipe.host_bytes_per_parameter()));
  } else if (recipe.optimizer == Optimizer::muon) {
    const MuonStates muon = muon_states(t, network, zero, tied);
    m.optimizer = round_up_bytes(muon.others * states +
                                 muon.matrices * static_cast<double>(recipe.matrix_bytes_per_parameter()));
  } else {
    m.optimizer = round_up_bytes((zero.shards_optimizer() ? part : all) * states);
  }
  if (recipe.offload.any()) m.host_capacity = host_.memory;
  m.activations = stashes;
  double workspace = t.transient;
  // What is gathered, and gradients of the layer whose reduction runs.
  if (zero.gathers_every_pass()) workspace += gathered_bytes(t, network, zero, keeping.first);
  if (zero.reduces_every_micro_batch())
    workspace += t.largest_parameters * static_cast<double>(size_of(recipe.reduce_dtype));
  m.workspace = round_up_bytes(workspace) + fixed_memory(recipe, 0).buckets;
  m.fragmentation = fragmentation(m.allocated());
  m.reserve = recipe.reserve;
  m.margin = margin_;
  m.capacity = capacity_;
  return m;
}

Bytes StageCoster::fragmentation(Bytes allocated) const {
  return fragmentation_of(allocated, recipe_.fragmentation);
}

Bytes StageCoster::on_device(Bytes allocated) const {
  return allocated + fragmentation(allocated) + recipe_.reserve;
}

Bytes StageCoster::allocatable() const {
  return allocatable_in(capacity_ - margin_ - recipe_.reserve, recipe_.fragmentation);
}

}  // namespace nest::price
