// A cluster with figures of its levels as somebody measured them: output of nccl-tests moves the levels that its ranks span
// (fit_network.hpp), output of ib_write_bw and ib_write_lat states those of the level between hosts.
//
//   measured_cluster(cluster, {{"all_reduce.txt", text}}, {}).said[0]
//       -> "rack: 0.871 times the bandwidth, 50 GB/s became 43.6 GB/s (all_reduce.txt)"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/validate/calibrate/calibrate.hpp"

namespace nest::validate {

struct MeasuredOptions {
  std::string level;            // that a test of links is about; empty: the first one outside hosts
  std::optional<double> links;  // such links of a device; none: one, or its part where a device has less
};

struct MeasuredCluster {
  Cluster cluster;
  std::vector<std::string> said;     // what became of levels, a sentence each
  std::vector<MeasuredFigure> rows;  // collectives beside what the cluster predicts
};

// Whether a text is such a measurement.
[[nodiscard]] bool is_link_measurement(std::string_view text);

[[nodiscard]] MeasuredCluster measured_cluster(const Cluster& cluster, std::span<const MeasuredFile> files,
                                               const MeasuredOptions& options);

}  // namespace nest::validate
