#include "two_dimensional.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/api/strategy.hpp"

namespace {

using nest::Axis;
using nest::CollectiveKind;
using nest::Operator;
using nest::OperatorKind;
using nest::TensorIndex;

enum class Over { rows, columns };

class GridPass {
 public:
  GridPass(nest::LayerTransform& t, Grid grid) : t_(t), grid_(grid) {}

  void run() {
    for (TensorIndex i = 0; i < t_.tensors(); ++i) t_.split(i, Axis::hidden, grid_.columns);
    for (Operator& op : t_.take_operators()) visit(std::move(op));
  }

 private:
  // A device of the tensor group is row + rows * column.
  nest::CollectiveCall sum(Over over, bool forward, bool backward) const {
    nest::CollectiveCall shape;
    if (forward) shape.forward = CollectiveKind::all_reduce;
    if (backward) shape.backward = CollectiveKind::all_reduce;
    shape.members = over == Over::rows ? grid_.rows : grid_.columns;
    shape.stride = over == Over::rows ? 1 : grid_.rows;
    return shape;
  }

  bool alone(Over over) const { return (over == Over::rows ? grid_.rows : grid_.columns) == 1; }

  bool has_axis(TensorIndex i) const {
    const nest::Shape& shape = t_.tensor(i).shape;
    return std::any_of(shape.begin(), shape.end(),
                       [](const nest::Dim& d) { return nest::is_tensor_axis(d.axis); });
  }

  void split(TensorIndex i) {
    for (const nest::Dim& d : t_.tensor(i).shape) {
      if (!nest::is_tensor_axis(d.axis)) continue;
      const std::int64_t multiple = t_.options().vocabulary_multiple * grid_.rows;
      if (d.axis == Axis::vocab) t_.pad(i, d.axis, (d.size + multiple - 1) / multiple * multiple);
      // Rows that share a KV head each see the gradient of their own queries only.
      if (d.axis == Axis::kv_heads && d.size < grid_.rows) t_.set_partial_gradient(i);
      t_.split(i, d.axis, grid_.rows);
    }
  }

  // The gradient of what this operator reads is summed over the group, once for all that read it.
  void open(Operator& op, Over over) {
    if (alone(over)) return;
    TensorIndex& in = op.inputs.front();
    auto known = opened_.find(in);
    if (known == opened_.end())
      known = opened_.emplace(in, t_.push_enter(in, op.name + ".enter", sum(over, false, true))).first;
    in = known->second;
  }

  void close(Operator op, Over over) {
    if (alone(over)) return t_.push(std::move(op));
    t_.push_reduced(std::move(op), "reduce", sum(over, true, false));
  }

  void visit(Operator op) {
    for (const TensorIndex p : op.parameters) split(p);
    for (const TensorIndex i : nest::made_by(op)) split(i);
    const bool norm = op.kind == OperatorKind::rms_norm || op.kind == OperatorKind::layer_norm;
    if (op.kind == OperatorKind::matmul) {
      const bool by_row = has_axis(op.inputs.front());  // contracts heads or ffn
      open(op, by_row ? Over::columns : Over::rows);
      return close(std::move(op), by_row ? Over::rows : Over::columns);
    }
    if (op.kind == OperatorKind::embedding) return close(std::move(op), Over::rows);
    if (norm && t_.has(op.inputs.front(), Axis::hidden) && !alone(Over::columns)) {
      // The mean square of split rows: one fp32 per token, and its gradient.
      const TensorIndex scale =
          op.keeps.back() == op.inputs.front() ? op.keeps[op.keeps.size() - 2] : op.keeps.back();
      t_.push_collective(op.name + ".statistics", sum(Over::columns, true, true), {op.inputs.front()},
                         {t_.copy(scale, ".sum")});
    }
    if (op.kind == OperatorKind::loss && !alone(Over::rows)) {
      for (const char* what : {".max", ".sum", ".target"}) {
        t_.push_collective(op.name + what, sum(Over::rows, true, false), {op.inputs.front()},
                           {t_.copy(op.outputs.back(), what)});
      }
    }
    t_.push(std::move(op));
  }

  nest::LayerTransform& t_;
  Grid grid_;
  std::map<TensorIndex, TensorIndex> opened_;
};

std::optional<nest::Refusal> check(const nest::LayerType& layer, Grid grid, const nest::Strategy& s) {
  if (s.sequence_parallel)
    return nest::Refusal{"grid_sequence", "the grid splits hidden, not the sequence, between its products"};
  for (const nest::Tensor& tensor : layer.tensors) {
    for (const nest::Dim& d : tensor.shape) {
      if (d.axis == Axis::experts || d.axis == Axis::latent)
        return nest::Refusal{"grid_dense", "the grid splits dense layers with plain attention only"};
      if (d.axis == Axis::hidden && d.size % grid.columns != 0)
        return nest::Refusal{"grid_hidden", std::to_string(grid.columns) + " columns do not divide hidden"};
    }
  }
  nest::Strategy rows = s;
  rows.tensor = grid.rows;
  return nest::tensor_strategy().check(layer, rows);
}

}  // namespace

nest::SubgraphStrategy two_dimensional(Grid grid) {
  return {"grid", "heads, ffn and vocabulary over rows, hidden over columns",
          [grid](const nest::Strategy& s) { return s.tensor == grid.devices(); },
          [grid](const nest::LayerType& layer, const nest::Strategy& s) { return check(layer, grid, s); },
          [grid](nest::LayerTransform& t) { GridPass(t, grid).run(); }};
}

std::vector<nest::SubgraphStrategy> table_with(Grid grid) {
  std::vector<nest::SubgraphStrategy> table;
  for (const nest::SubgraphStrategy& row : nest::subgraph_strategies()) {
    table.push_back(row);
    if (row.name != "tensor") continue;
    table.back().active = [grid, active = row.active](const nest::Strategy& s) {
      return s.tensor != grid.devices() && active(s);
    };
    table.push_back(two_dimensional(grid));
  }
  return table;
}
