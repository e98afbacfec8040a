// The hand-priced example: four devices, three layers, 16-bit weights and gradients, nothing overlaps.
#pragma once

#include <string>

#include "nest/cluster/cluster_file.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::test {
using namespace plan;

inline const std::string kExampleCluster = R"(
name: four
accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}
levels:
  - {name: node, kind: switch, size: 2, bandwidth: 100 GB/s, latency: 1 us}
  - {name: rack, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 5 us}
)";

inline const std::string kExampleProfile = R"({"format": "nest-layer-profile", "version": 1, "name": "three",
 "micro_batch": 1, "sequence": 512, "parameter_dtype_bytes": 2,
 "strategies": [{"tensor": 1, "layers": [
  {"id": 0, "name": "a", "forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 200000000, "activation_bytes": 100000000},
  {"id": 1, "name": "b", "forward_s": 0.002, "backward_s": 0.004, "parameter_bytes": 200000000, "activation_bytes": 100000000},
  {"id": 2, "name": "c", "forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 200000000, "activation_bytes": 100000000}],
  "edges": [{"from": 0, "to": 1, "bytes": 50000000}, {"from": 1, "to": 2, "bytes": 50000000}]}]})";

[[nodiscard]] inline PlanInputs example_inputs() {
  const Document profile = parse_json("profile", kExampleProfile);
  return {profile.root, read_layer_profile(profile), read_cluster(parse_yaml("cluster", kExampleCluster)),
          named_recipe("plain")};
}

// Stages by their layers; `inner` copies side by side.
[[nodiscard]] inline Plan example_plan(const std::vector<std::vector<int>>& stages, std::int64_t copies,
                                       std::int64_t inner) {
  Plan plan;
  plan.training.global_batch = 8;
  plan.training.optimizer = Optimizer::sgd;
  plan.training.sequence = 512;
  plan.training.micro_batches = 8 / copies;
  plan.parallelism.pipeline = static_cast<std::int64_t>(stages.size());
  plan.parallelism.data = copies;
  plan.parallelism.data_inner = inner;
  for (const std::vector<int>& layers : stages) {
    Stage& stage = plan.stages.emplace_back();
    for (const int id : layers) stage.layers.emplace_back(id);
  }
  return plan;
}

}  // namespace nest::test
