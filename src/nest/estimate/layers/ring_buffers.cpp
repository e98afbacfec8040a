#include "nest/estimate/layers/ring_buffers.hpp"

#include <algorithm>
#include <cstdint>

namespace nest::estimate {

const Operator* core_of_ring(const LayerType& layer, const Operator& collective) {
  const bool ring = collective.kind == OperatorKind::collective &&
                    model::of_context(collective.collective.group) &&
                    collective.collective.forward == CollectiveKind::send;
  if (!ring) return nullptr;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::attention && op.inputs[1] == collective.inputs[0]) return &op;
  }
  return nullptr;
}

Bytes ring_buffers(const LayerType& layer, bool merges_steps) {
  Bytes most;
  for (const Operator& collective : layer.operators) {
    const Operator* core = core_of_ring(layer, collective);
    if (core == nullptr) continue;
    const Bytes turning = layer.tensor(core->inputs[1]).bytes() + layer.tensor(core->inputs[2]).bytes();
    const Bytes queries = layer.tensor(core->inputs[0]).bytes();
    const Bytes made = layer.tensor(core->outputs[0]).bytes();
    const std::int64_t steps = collective.collective.repeats + 1;
    const Bytes forward = steps * turning + (merges_steps ? 3 : steps + 2) * made;
    most = std::max({most, forward, 5 * turning + 2 * queries + made});
  }
  return most;
}

}  // namespace nest::estimate
