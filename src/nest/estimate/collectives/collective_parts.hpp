// Inside of collective.cpp: the price of one composition of levels. `phases` is filled where it is given.
#pragma once

#include <vector>

#include "nest/estimate/collectives/collective.hpp"

namespace nest::estimate {

struct Parts {
  double launch = 0;
  double latency = 0;
  double transfer = 0;
  [[nodiscard]] double total() const { return launch + latency + transfer; }
};

struct CollectiveQuery {
  CollectiveKind kind = CollectiveKind::none;
  double bytes = 0;
  const GroupShape& group;
  const CollectiveModel& model;
};

using Phases = std::vector<CollectivePhase>;

[[nodiscard]] Parts price_flat(const CollectiveQuery& query, Phases* phases);
[[nodiscard]] Parts price_hierarchical(const CollectiveQuery& query, Phases* phases);
[[nodiscard]] Parts price_direct(const CollectiveQuery& query, Protocol protocol, Phases* phases);
[[nodiscard]] Parts price_rings(const CollectiveQuery& query, Protocol protocol, Phases* phases);
[[nodiscard]] Parts price_trees(const CollectiveQuery& query, Protocol protocol, Phases* phases);

}  // namespace nest::estimate
