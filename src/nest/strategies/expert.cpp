#include "nest/strategies/expert.hpp"

#include <algorithm>
#include <utility>

#include "nest/strategies/refusals.hpp"

namespace nest::strategies {
namespace {

class ExpertPass {
 public:
  explicit ExpertPass(LayerTransform& t)
      : t_(t),
        experts_(t.strategy().expert),
        columns_(t.strategy().expert_tensor_degree()),
        own_tokens_(t.strategy().tensor == 1 || t.strategy().shards_sequence()),
        load_(load_of(t.options(), experts_)),
        rows_(load_ * static_cast<double>(own_tokens_ ? columns_ : 1)) {}

  void run() {
    split_tensors();
    for (Operator& op : t_.take_operators()) {
      const bool reads = any_routed(op.inputs);
      const bool makes = any_routed(op.outputs);
      if (makes && !reads) {
        dispatch(std::move(op));
      } else if (reads && !makes) {
        combine(std::move(op));
      } else {
        replace(op.inputs, sent_, arrived_);
        replace(op.keeps, sent_, arrived_);
        t_.push(std::move(op));
      }
    }
  }

 private:
  // With a capacity, every expert works on so many rows, filled up or cut off: no expert has more.
  static double load_of(const ShardOptions& options, std::int64_t experts) {
    if (options.capacity_factor > 0) return options.capacity_factor;
    return experts > 1 ? options.expert_imbalance : 1;
  }

  bool any_routed(const std::vector<TensorIndex>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](TensorIndex i) { return t_.has(i, Axis::routed); });
  }

  void split_tensors() {
    for (const Operator& op : t_.operators()) {
      if (op.kind != OperatorKind::grouped_matmul) continue;
      for (const TensorIndex p : op.parameters) {
        t_.split(p, Axis::experts, experts_);
        t_.split(p, Axis::ffn, columns_);
      }
    }
    for (TensorIndex i = 0; i < t_.tensors(); ++i) {
      if (!t_.is_activation(i) || !t_.has(i, Axis::routed)) continue;
      t_.split(i, Axis::ffn, columns_);
      t_.stretch(i, Axis::routed, rows_);
    }
  }

  CollectiveCall exchange(bool back) const {
    CollectiveCall call{CollectiveKind::all_to_all, CollectiveKind::all_to_all, GroupAxis::expert};
    call.route = t_.routing();
    call.route.dispatcher = t_.strategy().used_dispatcher();
    call.route.back = back;
    call.route.low = t_.options().low_dispatch;
    return call;
  }

  TensorIndex routed_copy(TensorIndex i, const char* suffix, double stretch) {
    const TensorIndex made = t_.copy(i, suffix);
    t_.stretch(made, Axis::routed, stretch);
    return made;
  }

  void dispatch(Operator op) {
    const std::string name = op.name;
    if (!own_tokens_ && columns_ > 1) op.inputs.front() = open(op.inputs.front(), name + ".enter");
    sent_ = arrived_ = op.outputs.front();
    t_.stretch(sent_, Axis::routed, 1);
    t_.push(std::move(op));
    if (experts_ > 1) {
      const TensorIndex received = routed_copy(sent_, ".received", load_);
      t_.push_collective(name + ".all_to_all", exchange(false), {arrived_}, {received});
      arrived_ = received;
    }
    if (own_tokens_ && columns_ > 1) {
      const TensorIndex gathered = routed_copy(sent_, ".gathered", rows_);
      t_.push_collective(
          name + ".gather",
          {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, GroupAxis::expert_tensor}, {arrived_},
          {gathered});
      arrived_ = gathered;
    }
  }

  void combine(Operator op) {
    const TensorIndex made = op.inputs.front();
    TensorIndex at = made;
    if (own_tokens_ && columns_ > 1) {
      const TensorIndex summed = routed_copy(made, ".summed", load_);
      t_.push_collective(
          op.name + ".scatter",
          {CollectiveKind::reduce_scatter, CollectiveKind::all_gather, GroupAxis::expert_tensor}, {at},
          {summed});
      at = summed;
    }
    if (experts_ > 1) {
      const TensorIndex returned = routed_copy(made, ".returned", 1);
      t_.push_collective(op.name + ".all_to_all", exchange(true), {at}, {returned});
      at = returned;
    }
    replace(op.inputs, made, at);
    replace(op.keeps, made, at);
    if (own_tokens_ || columns_ == 1) return t_.push(std::move(op));
    // Weighted partial rows: their sum over the ranks completes the tokens, and the weights' gradients.
    op.inputs.back() = open(op.inputs.back(), op.name + ".enter");
    t_.push_reduced(std::move(op), "reduce",
                    {CollectiveKind::all_reduce, CollectiveKind::none, GroupAxis::expert_tensor});
  }

  TensorIndex open(TensorIndex i, const std::string& name) {
    return t_.push_enter(i, name,
                         {CollectiveKind::none, CollectiveKind::all_reduce, GroupAxis::expert_tensor});
  }

  LayerTransform& t_;
  std::int64_t experts_;
  std::int64_t columns_;
  bool own_tokens_;  // no other device of the cell holds the same
  double load_;      // rows that arrive over rows that were sent
  double rows_;      // rows that a device works on over rows that it sent
  TensorIndex sent_ = 0;
  TensorIndex arrived_ = 0;
};

std::optional<Refusal> check(const LayerType& layer, const Strategy& s) {
  const std::int64_t x = s.expert_tensor_degree();
  bool any = false;
  for (const Operator& op : layer.operators) {
    if (op.kind != OperatorKind::grouped_matmul) continue;
    any = true;
    for (const TensorIndex p : op.parameters) {
      for (const Dim& d : layer.tensor(p).shape) {
        if (d.axis == Axis::experts && d.size % s.expert != 0)
          return Refusal{"expert_count", "expert " + std::to_string(s.expert) + " does not divide the " +
                                             count_of(d.size, "expert") + " of " + layer.name};
        if (d.axis == Axis::ffn && d.size % x != 0)
          return indivisible("expert_tensor_ffn", {"expert tensor", x, d.size, "ffn columns"},
                             layer.tensor(p), layer);
      }
    }
  }
  if (!any || s.tensor == 1 || s.shards_sequence()) return std::nullopt;
  if (x != s.tensor) {
    return Refusal{"expert_tensor_tokens",
                   "expert tensor " + std::to_string(x) + " beside tensor " + std::to_string(s.tensor) +
                       " needs sequence parallelism: tensor ranks hold the same tokens"};
  }
  if (s.expert > 1) {
    return Refusal{.rule = "expert_sequence_parallel",
                   .sentence = "expert " + std::to_string(s.expert) + " with tensor " +
                               std::to_string(s.tensor) + " needs sequence parallelism (Megatron)",
                   .framework = true};
  }
  return std::nullopt;
}

}  // namespace

bool has_experts(const LayerType& layer) {
  return std::any_of(layer.operators.begin(), layer.operators.end(),
                     [](const Operator& op) { return op.kind == OperatorKind::grouped_matmul; });
}

bool is_shared_expert(const Operator& op) {
  return op.name.starts_with("shared.") && op.kind != OperatorKind::collective;
}

bool is_routed_expert(const LayerType& layer, const Operator& op) {
  if (op.kind == OperatorKind::collective) return false;
  const auto routed = [&](TensorIndex i) {
    const Shape& shape = layer.tensor(i).shape;
    return std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.axis == Axis::routed; });
  };
  return std::any_of(op.inputs.begin(), op.inputs.end(), routed) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), routed);
}

SubgraphStrategy expert_strategy() {
  return {"expert", "experts over e devices, each expert over x",
          [](const Strategy& s) { return s.expert > 1 || s.tensor > 1 || s.expert_tensor_degree() > 1; },
          check, [](LayerTransform& t) { ExpertPass(t).run(); }};
}

}  // namespace nest::strategies
