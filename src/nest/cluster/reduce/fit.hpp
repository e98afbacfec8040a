// Gives the levels of a candidate their bandwidths and latencies, and measures what that gets wrong.
#pragma once

#include "nest/cluster/reduce/candidates.hpp"
#include "nest/cluster/reduce/reduce.hpp"

namespace nest::cluster {

struct Fitted {
  Cluster cluster;
  std::vector<LevelFit> levels;
  double worst_error = 0;
  double mean_error = 0;
};

// A level's figure is the one whose worst relative error over its pairs is least: with a the least and b the
// greatest true figure that is 2ab / (a + b), whose error is (b - a) / (b + a).
[[nodiscard]] Fitted fit_levels(const Candidate& candidate, const PairTable& table,
                                const std::vector<std::string>& names, const std::string& cluster_name,
                                const Accelerator& accelerator);

// What the fitted cluster says of a pair of its devices.
[[nodiscard]] PairFigures said_of(const Cluster& cluster, std::int32_t a, std::int32_t b);
// |said - truth| / truth; a truth of 0 is met exactly or missed wholly.
[[nodiscard]] double relative_error(double said, double truth);

}  // namespace nest::cluster
