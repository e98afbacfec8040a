// Any network as levels: tries the ways of candidates.hpp, fits each level's bandwidth and latency so that
// the worst relative error of its pairs is least, keeps the way that errs least, and says how far every level
// is from the truth.
//
//   const Reduction r = reduce_graph(read_graph(document));
//   r.cluster            8 x 4 x 32, ready for a plan; device i of it is the graph's r.device_names[i]
//   r.worst_error        0.02: no pair's bandwidth or latency is more than 2 % off what its level says
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/cluster/reduce/graph.hpp"
#include "nest/cluster/reduce/matrix.hpp"
#include "nest/cluster/reduce/pairs.hpp"

namespace nest::cluster {

struct ReduceOptions {
  // Also try an exact mesh or torus as one level of that kind, which has no error, but no levels inside it
  // either.
  bool keep_torus = false;
};

struct WorstPair {
  std::string a;
  std::string b;
  PairFigures truth;
  PairFigures said;  // by the level
};

// Errors are |said - truth| / truth.
struct LevelFit {
  std::string level;
  std::int64_t pairs = 0;
  double worst_bandwidth_error = 0;
  double mean_bandwidth_error = 0;
  double worst_latency_error = 0;
  double mean_latency_error = 0;
  std::optional<WorstPair> worst;  // none where no pair is off
};

// One of the ways that were tried.
struct Attempt {
  std::string method;
  std::int32_t levels = 0;
  double worst_error = 0;
  double mean_error = 0;
};

struct Reduction {
  Cluster cluster;
  std::string method;
  std::vector<std::int32_t> order;        // the input's device at each place of the cluster
  std::vector<std::string> device_names;  // in the cluster's order
  bool reordered = false;
  std::vector<LevelFit> levels;
  double worst_error = 0;  // the larger of a pair's bandwidth and latency error, over all pairs
  double mean_error = 0;
  std::vector<Attempt> attempts;
  std::vector<std::int32_t> grid_dims;  // where the graph is exactly a mesh or torus
  Warnings warnings;
  PairTable truth;
};

[[nodiscard]] Reduction reduce_graph(const NetworkGraph& graph, ReduceOptions options = {});
// Matrices say nothing of shared links: every level's oversubscription is 1.
[[nodiscard]] Reduction reduce_pairs(MeasuredPairs measured, std::string name,
                                     const Accelerator& accelerator);

// {"cluster": {..}, "method", "worst_error", "mean_error", "levels": [{..}], "attempts": [..], "devices":
// [names]}
[[nodiscard]] Value reduction_value(const Reduction& reduction);
// One line for each pair: names, level, true and said figures, errors.
[[nodiscard]] std::string pair_errors_csv(const Reduction& reduction);

}  // namespace nest::cluster
