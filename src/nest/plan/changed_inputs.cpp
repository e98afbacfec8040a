#include "nest/plan/changed_inputs.hpp"

#include <utility>

#include "nest/cluster/resize.hpp"

namespace nest::plan {

PlanInputs with_cluster(const PlanInputs& inputs, Cluster cluster) {
  return {inputs.model, inputs.source, std::move(cluster), inputs.recipe, inputs.strategies};
}

PlanInputs with_bandwidth(const PlanInputs& inputs, LevelId level, double factor) {
  const FabricConstants own = fabric_constants(inputs.cluster);
  ClusterParts parts = inputs.cluster.parts();
  for (std::size_t l = 0; l < parts.levels.size(); ++l) parts.levels[l].fabric = own.levels[l].name;
  BytesPerSecond& bandwidth = parts.levels[level.index()].bandwidth;
  bandwidth = factor * bandwidth;
  return with_cluster(inputs, Cluster(std::move(parts)));
}

PlanInputs with_memory(const PlanInputs& inputs, Bytes memory) {
  ClusterParts parts = inputs.cluster.parts();
  parts.accelerator.memory = memory;
  return with_cluster(inputs, Cluster(std::move(parts)));
}

PlanInputs with_host(const PlanInputs& inputs, double factor) {
  ClusterParts parts = inputs.cluster.parts();
  Accelerator& chip = parts.accelerator;
  const HostShare host = chip.host();
  chip.host_link = factor * host.link;
  chip.host_update = factor * host.update;
  return with_cluster(inputs, Cluster(std::move(parts)));
}

std::optional<PlanInputs> with_one_more_domain(const PlanInputs& inputs) {
  std::optional<Cluster> more = with_one_more_domain(inputs.cluster);
  if (!more) return std::nullopt;
  return with_cluster(inputs, std::move(*more));
}

}  // namespace nest::plan
