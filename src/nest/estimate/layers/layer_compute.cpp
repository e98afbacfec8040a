#include "nest/estimate/layers/layer_compute.hpp"

#include <algorithm>
#include <set>

#include "nest/estimate/collectives/token_exchange.hpp"
#include "nest/estimate/layers/ring_buffers.hpp"
#include "nest/estimate/operators/operator_products.hpp"
#include "nest/strategies/expert.hpp"

namespace nest::estimate {
namespace {

// Of one value that is held in so few bits: with a scale of 32 bits for every 64 values, each of 8 bits with one more
// for 256 of them (QLoRA, Dettmers et al. 2023: 0.127 bits), or one for each row of 8-bit values.
double packed_bytes(std::int64_t bits) {
  constexpr double kScaleBits = 0.127;
  return (static_cast<double>(bits) + (bits == 4 ? kScaleBits : 0)) / 8;
}

// The largest set of gradients that one operator's backward pass holds at once: those of what it read and
// made, and where attention writes its scores, those behind and before their softmax. A loss that is written out in 32
// bits, as Transformers has it, takes its logits in 32 bits.
Bytes widest_gradients(const LayerType& layer, bool plain) {
  Bytes most;
  for (const Operator& op : layer.operators) {
    Bytes sum;
    for (const TensorIndex i : op.inputs) sum += layer.tensor(i).bytes();
    for (const TensorIndex i : op.outputs) sum += layer.tensor(i).bytes();
    if (op.kind == OperatorKind::loss && plain) sum += Bytes{2 * elements(layer.tensor(op.inputs[0]).shape)};
    if (op.kind == OperatorKind::attention && !op.attention.flash)
      sum += 2 * layer.tensor(op.keeps.front()).bytes();
    most = std::max(most, sum);
  }
  return most;
}

// The half of a collective that runs in a pass, as a forward one.
CollectiveCall half_of(CollectiveCall shape, CollectivePass pass) {
  if (pass == CollectivePass::backward) {
    shape.forward = shape.backward;
    shape.forward_bytes = shape.backward_bytes;
    // Gradients go the other way, in 16 bits.
    if (shape.route.experts > 0) shape.route.back = !shape.route.back;
    shape.route.low = false;
  }
  shape.backward = CollectiveKind::none;
  shape.backward_bytes = {};
  return shape;
}

// Whether a collective's backward half runs: somebody waits for the gradients, or for rows that are gathered once
// more for gradients of weights.
bool runs_backward(const LayerType& layer, const Operator& op) {
  const CollectiveCall& c = op.collective;
  const bool gathers_again = c.forward == CollectiveKind::none && c.backward == CollectiveKind::all_gather;
  return gathers_again || layer.passes_gradients(op);
}

// What of a layer's weights stays as it is, and the most that one product's weight takes in 16 bits where it is held
// in fewer.
Bytes add_frozen(const ShardedLayer& sharded, LayerFigures& out) {
  const LayerType& layer = sharded.layer;
  std::set<TensorIndex> low;
  for (const Operator& op : layer.operators) {
    if (layer.low_product(op)) low.insert(op.parameters.begin(), op.parameters.end());
  }
  Bytes unpacked;
  for (const ParameterFact& fact : sharded.parameters) {
    const Tensor& tensor = layer.tensor(fact.tensor);
    if (!tensor.frozen || tensor.role != Role::parameter) continue;
    FrozenWeights& weights = fact.expert ? out.frozen_experts : out.frozen_dense;
    const std::int64_t values = elements(tensor.shape);
    if (tensor.packed_bits > 0) {
      weights.packed_bytes += static_cast<double>(values) * packed_bytes(tensor.packed_bits);
      unpacked = std::max(unpacked, tensor.bytes());
    } else {
      (low.contains(fact.tensor) ? weights.low : weights.wide) += values;
    }
  }
  return unpacked;
}

// Rows that tensor ranks gather for products of a low precision are cast before they travel, and so are
// gradients of what such products made.
CollectiveCall as_sent(const LayerType& layer, const Operator& op, const OperatorSettings& settings) {
  CollectiveCall call = op.collective;
  if (!settings.low_gathers || !is_low(settings.precision) || call.group != GroupAxis::tensor ||
      layer.tensor(op.inputs[0]).dtype != DType::bf16)
    return call;
  const double share = facts_of(settings.precision).operand_bytes / static_cast<double>(size_of(DType::bf16));
  const auto only_low = [&](std::vector<TensorIndex> Operator::* list, TensorIndex i) {
    bool any = false;
    for (const Operator& other : layer.operators) {
      if (&other == &op || other.kind == OperatorKind::collective ||
          std::ranges::find(other.*list, i) == (other.*list).end())
        continue;
      if (!layer.low_product(other)) return false;
      any = true;
    }
    return any;
  };
  const auto low = [&](Bytes bytes) { return round_up_bytes(share * static_cast<double>(bytes.value)); };
  if (call.forward == CollectiveKind::all_gather && only_low(&Operator::inputs, op.outputs[0]))
    call.forward_bytes = low(call.forward_bytes);
  // What is gathered once more for gradients of weights stands in lists of kept tensors.
  if (call.backward == CollectiveKind::all_gather &&
      (call.forward == CollectiveKind::none ? only_low(&Operator::keeps, op.inputs[0])
                                            : only_low(&Operator::outputs, op.inputs[0])))
    call.backward_bytes = low(call.backward_bytes);
  return call;
}

void add(std::vector<LayerCollective>& list, const CollectiveCall& whole, CollectivePass pass, Seconds step) {
  const CollectiveCall shape = half_of(whole, pass);
  if (shape.forward == CollectiveKind::none) return;
  const auto p = static_cast<std::size_t>(pass);
  const auto same = [&](const LayerCollective& c) {
    return c.shape == shape && (c.count[p] == 0 || c.step[p] == step);
  };
  auto at = std::find_if(list.begin(), list.end(), same);
  if (at == list.end()) at = list.insert(list.end(), LayerCollective{shape});
  ++at->count[p];
  at->step[p] = step;
}

// What attention computes beside one hop of the ring that turns its keys and values: a ring of c ranks runs c
// steps and c - 1 hops.
OperatorTime step_beside(const LayerType& layer, const Operator& collective, const OperatorTimes& times) {
  const Operator* core = core_of_ring(layer, collective);
  if (core == nullptr) return {};
  OperatorTime step = times.time(layer, *core);
  const double share = 1.0 / static_cast<double>(collective.collective.repeats + 1);
  step.forward = step.forward * share;
  step.backward_input = step.backward_input * share;
  return step;
}

}  // namespace

void set_exchange(LayerCompute& compute, const Strategy& strategy) {
  compute.overlaps_experts = strategy.overlaps_experts();
  compute.exchange_share = exchange_sms(strategy.used_dispatcher()) / compute.multiprocessors;
  for (LayerCollective& c : compute.collectives) {
    if (c.shape.route.experts > 0) c.shape.route.dispatcher = strategy.used_dispatcher();
  }
}

LayerCompute layer_compute(const ShardedLayer& sharded, const LayerPolicy& policy, const OperatorTimes& times,
                           const Selective& selective) {
  const LayerType& layer = sharded.layer;
  const OperatorSettings& settings = times.settings();
  LayerCompute out;
  const LayerTime time = times.layer(layer);
  out.forward = time.forward();
  out.backward = time.backward();
  out.forward_wait = time.forward() - time.device.forward;
  out.backward_wait = time.backward() - time.device.backward();
  out.backward_weight = time.device.backward_weight;
  out.source = time.device.source;
  out.launch_bound = time.launch_bound;
  for (const Operator& op : layer.operators) {
    if (op.kind != OperatorKind::collective) continue;
    const OperatorTime step = step_beside(layer, op, times);
    const CollectiveCall sent = as_sent(layer, op, settings);
    add(out.collectives, sent, CollectivePass::forward, step.forward);
    if (runs_backward(layer, op)) add(out.collectives, sent, CollectivePass::backward, step.backward());
  }

  for (const Operator& op : layer.operators) {
    const bool shared = is_shared_expert(op);
    if (!shared && !is_routed_expert(layer, op)) continue;
    const OperatorTime own = times.time(layer, op);
    (shared ? out.shared_forward : out.experts_forward) += own.forward;
    (shared ? out.shared_backward : out.experts_backward) += own.backward();
  }
  out.memory_bandwidth = times.kernels().rates().bandwidth;
  out.multiprocessors = times.kernels().rates().multiprocessors;
  const Precision kept = settings.cast_each_use ? Precision::bf16 : settings.precision;
  const RecomputeCost again = recompute_cost(sharded, policy, selective, kept);
  OperatorTime repeated;
  for (std::size_t k = 0; k < again.operators.size(); ++k) {
    const Operator& op = layer.operators[again.operators[k]];
    if (op.kind == OperatorKind::collective) {
      add(out.collectives, as_sent(layer, op, settings), CollectivePass::again,
          step_beside(layer, op, times).forward);
    } else {
      OperatorTime once = times.time(layer, op);
      if (!again.shares.empty()) once.forward = again.shares[k] * once.forward;
      repeated += once;
    }
  }
  out.recompute = time.again(repeated);
  out.backward += out.recompute;

  out.dense_parameters = sharded.dense_parameters();
  out.expert_parameters = sharded.expert_parameters();
  out.partial_parameters = sharded.partial_gradient_parameters();
  out.shared_parameters = sharded.shared_parameters();
  for (const Operator& op : layer.operators) {
    if (layer.low_product(op) && layer.trains(op)) out.low_parameters += layer.parameters(op);
  }
  for (const WeightMatrix& matrix : muon_matrices(layer))
    out.matrix_parameters += elements(layer.tensor(matrix.tensor).shape);
  out.has_backward = layer.has_backward();
  const Bytes unpacked = add_frozen(sharded, out);
  set_exchange(out, sharded.strategy);
  out.stash = again.stash;
  out.transient = unpacked + again.transient +
                  std::max(widest_gradients(layer, settings.plain_norms && !settings.compiled),
                           ring_buffers(layer, settings.ring_merges_steps));
  return out;
}

}  // namespace nest::estimate
