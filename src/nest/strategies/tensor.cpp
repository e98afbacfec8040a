#include "nest/strategies/tensor.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "nest/strategies/refusals.hpp"

namespace nest::strategies {
namespace {

constexpr std::array<Axis, 4> kAxes{Axis::heads, Axis::kv_heads, Axis::ffn, Axis::vocab};
constexpr CollectiveCall kOpen{CollectiveKind::none, CollectiveKind::all_reduce, GroupAxis::tensor};
constexpr CollectiveCall kClose{CollectiveKind::all_reduce, CollectiveKind::none, GroupAxis::tensor};

class TensorPass {
 public:
  explicit TensorPass(LayerTransform& t) : t_(t), degree_(t.strategy().tensor) {}

  void run() {
    for (Operator& op : t_.take_operators()) visit(std::move(op));
  }

 private:
  void visit(Operator op) {
    switch (op.kind) {
      case OperatorKind::matmul:
        return product(std::move(op));
      case OperatorKind::grouped_matmul:
        return t_.push(std::move(op));
      case OperatorKind::embedding:
        return lookup(std::move(op));
      case OperatorKind::loss:
        return loss(std::move(op));
      default:
        return other(std::move(op));
    }
  }

  bool has_axis(TensorIndex i) const {
    return std::any_of(kAxes.begin(), kAxes.end(), [&](Axis a) { return t_.has(i, a); });
  }

  bool any_inside(const std::vector<TensorIndex>& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](TensorIndex i) { return t_.inside(i); });
  }

  void split(TensorIndex i) {
    const std::int64_t multiple = t_.options().vocabulary_multiple * degree_;
    for (const Dim& d : t_.tensor(i).shape) {
      if (d.axis == Axis::vocab) t_.pad(i, d.axis, (d.size + multiple - 1) / multiple * multiple);
      // Ranks that share a KV head each see the gradient of their own queries only.
      if (d.axis == Axis::kv_heads && d.size < degree_) t_.set_partial_gradient(i);
    }
    for (const Axis a : kAxes) t_.split(i, a, degree_);
  }

  void split_inside(const std::vector<TensorIndex>& tensors) {
    for (const TensorIndex i : tensors) {
      split(i);
      t_.set_inside(i);
    }
  }

  // The input is read through an opening collective; what is kept for the backward pass stays the tensor
  // before it.
  void open(Operator& op) {
    for (TensorIndex& in : op.inputs) {
      if (t_.inside(in)) continue;
      auto known = opened_.find(in);
      if (known == opened_.end()) {
        const TensorIndex made = t_.push_enter(in, op.name + ".enter", kOpen);
        t_.set_inside(made);
        known = opened_.emplace(in, made).first;
      }
      in = known->second;
    }
  }

  void close(Operator op) {
    const std::vector<TensorIndex> whole = op.outputs;
    t_.push_reduced(std::move(op), "reduce", kClose);
    for (const TensorIndex partial : t_.operators().back().inputs) t_.set_inside(partial);
    for (const TensorIndex i : whole) t_.set_inside(i, false);
  }

  void product(Operator op) {
    const TensorIndex in = op.inputs.front();
    const bool by_row = t_.inside(in) && has_axis(in);
    const bool by_column = !by_row && std::any_of(op.parameters.begin(), op.parameters.end(),
                                                  [&](auto p) { return has_axis(p); });
    if (!by_row && !by_column) return other(std::move(op));
    // The bias of a product by row has no such axis: every rank adds it, after the sum.
    for (const TensorIndex p : op.parameters) split(p);
    if (by_row) return close(std::move(op));
    split_inside(made_by(op));
    open(op);
    t_.push(std::move(op));
  }

  void lookup(Operator op) {
    for (const TensorIndex p : op.parameters) split(p);
    for (const TensorIndex ids : op.inputs) t_.set_inside(ids);  // every rank looks at all tokens
    close(std::move(op));
  }

  // Over a split vocabulary: the largest logit, the sum of exponentials and the target's logit, one fp32 per
  // token.
  void loss(Operator op) {
    if (any_inside(op.inputs)) {
      const TensorIndex logits = op.inputs.front();
      const TensorIndex per_token = op.outputs.back();
      t_.set_inside(per_token);
      for (const char* what : {".max", ".sum", ".target"}) {
        const TensorIndex value = t_.copy(per_token, what);
        t_.push_collective(op.name + what, kClose, {logits}, {value});
        op.inputs.push_back(value);
      }
    }
    other(std::move(op));
  }

  // Element-wise operators, norms, attention, other strategies' collectives: inside a region they stay
  // inside.
  void other(Operator op) {
    if (any_inside(op.inputs)) {
      split_inside(made_by(op));
      if (op.kind != OperatorKind::collective) open(op);
      for (const TensorIndex p : op.parameters) {
        split(p);
        // A norm of heads: one weight for all of them, of which a rank sees its own.
        if (!t_.is_split(p)) t_.set_partial_gradient(p);
      }
    }
    t_.push(std::move(op));
  }

  LayerTransform& t_;
  std::int64_t degree_;
  std::map<TensorIndex, TensorIndex> opened_;
};

std::optional<Refusal> check(const LayerType& layer, const Strategy& s) {
  const std::int64_t t = s.tensor;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::attention) {
      const std::int64_t heads = layer.tensor(op.inputs[0]).shape[2].size;
      const std::int64_t kv_heads = layer.tensor(op.inputs[1]).shape[2].size;
      if (heads % t != 0) {
        return Refusal{"tensor_heads", "tensor " + std::to_string(t) + " does not divide the " +
                                           count_of(heads, "attention head") + " of " + layer.name};
      }
      if (kv_heads % t != 0 && t % kv_heads != 0) {
        return Refusal{"tensor_kv_heads", "tensor " + std::to_string(t) + " and the " +
                                              count_of(kv_heads, "KV head") + " of " + layer.name +
                                              " do not divide each other"};
      }
    }
    if (op.kind != OperatorKind::matmul) continue;
    for (const TensorIndex p : op.parameters) {
      for (const Dim& d : layer.tensor(p).shape) {
        if (d.axis == Axis::ffn && d.size % t != 0)
          return indivisible("tensor_ffn", {"tensor", t, d.size, "ffn columns"}, layer.tensor(p), layer);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_tensor_axis(Axis axis) {
  return std::find(kAxes.begin(), kAxes.end(), axis) != kAxes.end();
}

SubgraphStrategy tensor_strategy() {
  return {"tensor", "heads, ffn and vocabulary over t devices",
          [](const Strategy& s) { return s.tensor > 1; }, check,
          [](LayerTransform& t) { TensorPass(t).run(); }};
}

}  // namespace nest::strategies
