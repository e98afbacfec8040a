// The cluster as Alpa sees it: nodes of equal devices, one network inside them and one between them. Whatever
// lies above the second level is taken for the second level.
//
//   const TwoLevelMesh mesh = two_level_mesh(catalog_cluster("h100-spine-leaf"));
//   mesh.node == 8, mesh.devices == 1024
//   is_submesh(mesh, n)   -> of 1, 2, 4, 8, 16, 24, .. devices
#pragma once

#include <cstdint>

#include "nest/base/units.hpp"
#include "nest/cluster/cluster.hpp"

namespace nest::solve::alpa {

struct MeshLink {
  BytesPerSecond bandwidth{1};  // of one device
  Seconds latency;
};

// Devices along one axis of a mesh that talk in a ring.
struct MeshAxis {
  std::int64_t members = 1;
  MeshLink link;

  // Bytes as in CollectiveCall; of an all-to-all, what one member sends to all.
  [[nodiscard]] Seconds all_gather(double bytes) const;
  [[nodiscard]] Seconds reduce_scatter(double bytes) const { return all_gather(bytes); }
  [[nodiscard]] Seconds all_reduce(double bytes) const { return 2 * all_gather(bytes); }
  [[nodiscard]] Seconds all_to_all(double bytes) const { return all_gather(bytes); }
};

struct TwoLevelMesh {
  std::int64_t node = 1;  // devices of one
  std::int64_t devices = 1;
  MeshLink inside;
  MeshLink between;

  // So many members, the next one `step` devices further on: inside a node where they all fit in one.
  [[nodiscard]] MeshAxis axis(std::int64_t members, std::int64_t step) const;
};

[[nodiscard]] TwoLevelMesh two_level_mesh(const Cluster& cluster);

// Whether a stage may have so many devices: a part of a node that divides it, or whole nodes.
[[nodiscard]] bool is_submesh(const TwoLevelMesh& mesh, std::int64_t devices);

}  // namespace nest::solve::alpa
