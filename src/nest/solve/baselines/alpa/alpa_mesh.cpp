#include "nest/solve/baselines/alpa/alpa_mesh.hpp"

#include <algorithm>

namespace nest::solve::alpa {
namespace {

MeshLink link_of(const Level& level) {
  return {BytesPerSecond{level.rate().value / level.oversubscription}, level.latency};
}

}  // namespace

Seconds MeshAxis::all_gather(double bytes) const {
  if (members <= 1 || bytes <= 0) return Seconds{0};
  const auto steps = static_cast<double>(members - 1);
  return Seconds{steps * link.latency.value +
                 steps / static_cast<double>(members) * bytes / link.bandwidth.value};
}

MeshAxis TwoLevelMesh::axis(std::int64_t members, std::int64_t step) const {
  return {members, members * step <= node ? inside : between};
}

TwoLevelMesh two_level_mesh(const Cluster& cluster) {
  const DeviceTree& tree = cluster.tree();
  TwoLevelMesh mesh;
  mesh.devices = cluster.devices();
  mesh.inside = mesh.between = link_of(cluster.levels().front());
  if (cluster.levels().size() > 1) mesh.between = link_of(cluster.levels()[1]);
  for (std::int32_t d = 0; d < tree.domains(LevelId(0)); ++d) {
    mesh.node = std::max<std::int64_t>(mesh.node, tree.devices_in(LevelId(0), d));
    if (tree.regular(LevelId(0))) break;
  }
  return mesh;
}

bool is_submesh(const TwoLevelMesh& mesh, std::int64_t devices) {
  return devices < mesh.node ? mesh.node % devices == 0 : devices % mesh.node == 0;
}

}  // namespace nest::solve::alpa
