// Finds the best stages if strategies may differ from stage to stage. The cost of the groups of one stage
// depends on the strategies of the others if they share links, so that no single table is exact for all
// combinations. The first table assumes that every stage has the links for itself, which gives a lower
// bound. The combinations of strategies that it finds are priced exactly and excluded, and this is
// repeated until no other combination can be better.
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

struct MixedQuestion {
  const Batch& batch;
  const std::vector<Strategy>& mixable;  // of one cell width, the first stage's in front
  const StageSetting& setting;           // complete but for places, as is `fill`
  const FillQuestion& fill;
  const Placement& placement;  // its network has the first stage's strategy everywhere
  std::int64_t copies = 1;
  NetworkOptions network;
};

class MixedFiller {
 public:
  // All that it is given outlives this.
  MixedFiller(SearchCosts& costs, Filler& filler) : costs_(&costs), filler_(&filler) {}

  [[nodiscard]] std::optional<MixedFilled> fill(const MixedQuestion& question, Seconds threshold,
                                                FillCounts& counts);

 private:
  SearchCosts* costs_;
  Filler* filler_;
};

}  // namespace nest::solve
