// The best stages where strategies may differ from stage to stage. What one stage's groups cost depends on
// the others' strategies where they share links, so the dynamic program has no exact table for all of them at
// once. It fills one in which every stage has the links for itself, which no plan beats; then it prices the
// strategies found there as they really are, leaves them out, and goes on until the rest cannot be better.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/solve/placements/placements.hpp"
#include "nest/solve/table/costs.hpp"
#include "nest/solve/table/fill.hpp"

namespace nest::solve {

struct MixedFilled {
  Filled filled;
  std::vector<Strategy> strategies;  // of the stages
};

class MixedFiller {
 public:
  // All that it is given outlives this.
  MixedFiller(SearchCosts& costs, Filler& filler) : costs_(&costs), filler_(&filler) {}

  // `family`: strategies of one cell width, the first stage's in front. `setting` and `shape` are complete
  // but for places; `placement` has the network with the first stage's strategy everywhere.
  [[nodiscard]] std::optional<MixedFilled> fill(const Batch& batch, const std::vector<Strategy>& family,
                                                const StageSetting& setting, const FillShape& shape,
                                                const Placement& placement, std::int64_t copies,
                                                const NetworkOptions& options, double threshold,
                                                FillCounts& counts);

 private:
  SearchCosts* costs_;
  Filler* filler_;
};

}  // namespace nest::solve
