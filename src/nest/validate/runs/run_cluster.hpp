// The cluster of a published run: its accelerator, nodes with their own links, and one network between them.
//
//   h100-sxm, 16 devices, 8 a node, 450 and 50 GB/s   ->  node 8 x 450 GB/s, network 2 x 50 GB/s
//   gb200, 256 devices                                ->  four NVLink domains of 64
//   tpu-v5e, 512 devices                              ->  two slices of 16 x 16
//
// What a row leaves open is the accelerator's usual: eight a node, its links, one network interface a device.
#pragma once

#include <optional>
#include <string>

#include "nest/cluster/cluster.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

struct RunCluster {
  std::optional<Cluster> cluster;
  std::string why_not;                // where there is none
  std::optional<std::int64_t> slice;  // TPUs in several slices: devices of one
};

// Constants fitted to the runs of the project `left_out` are left out.
[[nodiscard]] RunCluster run_cluster(const RunRow& row, const std::string& left_out = {});

}  // namespace nest::validate
