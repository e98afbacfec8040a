// Cluster files (docs/formats/cluster.md) in and out, and the summary that `nest clusters show --json`
// prints. A broken file is answered with its line:
//
//   pods.yaml: line 5, levels[1]: unknown key 'bandwith'; did you mean 'bandwidth'?
#pragma once

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

[[nodiscard]] Cluster read_cluster(const Document& document);
// The cluster of one member of a larger file, such as "inputs.cluster" of a plan.
[[nodiscard]] Cluster read_cluster(Reader file);

// What read_cluster reads back, in plain SI numbers.
[[nodiscard]] Value cluster_file_value(const Cluster& cluster);

// {"name", "devices", "accelerator": {..}, "levels": [{"name", "kind", "size", "domains",
// "devices_per_domain",
//  "bandwidth_bytes_per_s", "latency_s", "oversubscription", "bisection_bytes_per_s"}],
//  "bisection_bytes_per_s", "source", ..}. Uneven levels have "sizes" for "size", and the least and the most
//  of devices_per_domain as a list.
[[nodiscard]] Value cluster_summary(const Cluster& cluster);

}  // namespace nest::cluster
