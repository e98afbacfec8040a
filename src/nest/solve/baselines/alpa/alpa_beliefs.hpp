// What Alpa believes that each layer takes for one micro-batch on a mesh of copies x tensor devices: its
// intra-operator search for architectures, the profile's own costs for layer profiles, and gradients summed
// over the copies. Equal layers share one answer.
//
//   LayerBeliefs beliefs(question, mesh, book);
//   beliefs.times(1, {.strategy = strategy, .copies = 16, .micro_batches = 64})   -> by layer, in order()
#pragma once

#include <cstdint>
#include <vector>

#include "nest/price/layers/cost_book.hpp"
#include "nest/question/question.hpp"
#include "nest/solve/baselines/alpa/alpa_layer.hpp"

namespace nest::solve::alpa {

class LayerBeliefs {
 public:
  // All outlive this.
  LayerBeliefs(const PlanQuestion& question, const TwoLevelMesh& mesh, CostBook& book);

  // Layers one after the other, each behind those that feed it; by id where edges allow.
  [[nodiscard]] std::vector<LayerId> order(std::int64_t micro_batch);
  // The places in that order of layers that do not stand with the one before them.
  [[nodiscard]] std::vector<std::size_t> units(std::int64_t micro_batch);
  // In the same order. `again` of the split: of layers that can recompute.
  [[nodiscard]] std::vector<Seconds> times(std::int64_t micro_batch, const LayerSplit& split);
  // Of dynamic programs so far.
  [[nodiscard]] std::int64_t transitions() const { return transitions_; }

 private:
  [[nodiscard]] std::vector<Seconds> profile_times(const LayerProfile& profile,
                                                   const LayerSplit& split) const;
  [[nodiscard]] std::vector<Seconds> model_times(const BuiltModel& built, const LayerSplit& split);

  const PlanQuestion* question_;
  const TwoLevelMesh* mesh_;
  CostBook* book_;
  LayerSharder sharder_;
  std::int64_t transitions_ = 0;
};

}  // namespace nest::solve::alpa
