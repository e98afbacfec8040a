#include "nest/solve/baselines/alpa/alpa_layer.hpp"

#include <algorithm>
#include <optional>

namespace nest::solve::alpa {
namespace {

bool is_row_axis(Axis axis) {
  return axis == Axis::batch || axis == Axis::sequence || axis == Axis::source_sequence ||
         axis == Axis::tower_sequence || axis == Axis::routed;
}

std::size_t first_feature(const Shape& shape) {
  std::size_t i = 0;
  while (i < shape.size() && is_row_axis(shape[i].axis)) ++i;
  return i;
}

bool is_product(const Operator& op) {
  return op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
}

bool has_experts(const Tensor& tensor) {
  return !tensor.shape.empty() && tensor.shape.front().axis == Axis::experts && tensor.shape.size() > 1;
}

// Fewer KV heads than devices are repeated, a vocabulary is padded.
bool divides(const Dim& dim, std::int64_t t) {
  return dim.size % t == 0 || dim.axis == Axis::vocab || (dim.axis == Axis::kv_heads && t % dim.size == 0);
}

void cut(Dim& dim, std::int64_t t) {
  dim.size = std::max<std::int64_t>(1, (dim.size + t - 1) / t);
}

// Whole sequences where they divide, tokens of each otherwise.
void cut_rows(Shape& shape, std::int64_t t, bool by_batch) {
  for (Dim& dim : shape) {
    if (dim.axis == Axis::routed || (dim.axis == Axis::batch) == by_batch) {
      if (is_row_axis(dim.axis)) cut(dim, t);
    }
  }
}

void cut_features(Shape& shape, std::int64_t t) {
  const std::size_t at = first_feature(shape);
  if (at < shape.size()) cut(shape[at], t);
}

// Shapes of an operator's tensors while one of its shards is looked at.
class Sharding {
 public:
  Sharding(const LayerType& layer, std::int64_t t) : local_(layer), whole_(layer), t_(t) {
    for (const TensorIndex i : layer.inputs) {
      const Shape& shape = layer.tensor(i).shape;
      if (!shape.empty() && shape.front().axis == Axis::batch) batch_ = shape.front().size;
    }
  }

  [[nodiscard]] const LayerType& layer() const { return local_; }
  [[nodiscard]] bool by_batch() const { return batch_ % t_ == 0; }

  // Axes of a product's weight that its input is summed over.
  [[nodiscard]] std::size_t contracted(const Operator& op) const {
    const std::size_t stacked = op.kind == OperatorKind::grouped_matmul ? 1 : 0;
    const std::size_t in = whole_.tensor(op.inputs.front()).shape.size();
    const std::size_t weight = whole_.tensor(op.parameters.front()).shape.size() - stacked;
    return (in + weight - whole_.tensor(op.outputs.front()).shape.size()) / 2;
  }

  [[nodiscard]] bool allows(const Operator& op, Spec spec) const {
    const auto divisible = [&](TensorIndex i) {
      const Shape& shape = whole_.tensor(i).shape;
      const std::size_t at = first_feature(shape);
      return at < shape.size() && divides(shape[at], t_);
    };
    const auto all = [&](const std::vector<TensorIndex>& list) {
      return std::all_of(list.begin(), list.end(), divisible);
    };
    if (spec == Spec::replicated) return true;
    if (t_ == 1) return false;
    if (is_product(op)) {
      if (spec == Spec::column) return all(op.outputs);
      if (spec == Spec::contract) return all({op.inputs.front()});
      return spec == Spec::row;
    }
    switch (op.kind) {
      case OperatorKind::attention:
      case OperatorKind::scan:
        return spec == Spec::feature ? all(op.inputs) && all(op.outputs) : spec == Spec::row && by_batch();
      case OperatorKind::embedding:
        return spec == Spec::row || spec == Spec::contract;
      case OperatorKind::router:
      case OperatorKind::dispatch:
      case OperatorKind::combine:
      case OperatorKind::position:
      case OperatorKind::select:
      case OperatorKind::unfold:
      case OperatorKind::contrast:
        return spec == Spec::row;
      case OperatorKind::rms_norm:
      case OperatorKind::layer_norm: {
        const Shape& shape = whole_.tensor(op.outputs.front()).shape;
        const bool inner = first_feature(shape) + 1 < shape.size();  // heads, each with its own norm
        return spec == Spec::row || (spec == Spec::feature && inner && all(op.outputs));
      }
      default:
        return spec == Spec::row || (spec == Spec::feature && all({op.inputs.front()}));
    }
  }

  // The operator on one device.
  [[nodiscard]] Operator cut_operator(const Operator& op, Spec spec, std::int64_t experts) {
    Operator local = op;
    for (const TensorIndex p : op.parameters) {
      if (has_experts(whole_.tensor(p))) cut(local_.tensors[p].shape.front(), experts);
    }
    const bool attention = op.kind == OperatorKind::attention;
    if (spec == Spec::replicated) return local;
    const auto share = 1.0 / static_cast<double>(t_);
    local.forward_flops = op.forward_flops * share;
    local.parameter_bytes_read = round_up_bytes(static_cast<double>(op.parameter_bytes_read.value) * share);
    const auto each = [&](const std::vector<TensorIndex>& list, auto change) {
      std::vector<TensorIndex> once = list;
      std::sort(once.begin(), once.end());
      once.erase(std::unique(once.begin(), once.end()), once.end());
      for (const TensorIndex i : once) change(local_.tensors[i].shape);
    };
    std::vector<TensorIndex> moving = op.inputs;
    moving.insert(moving.end(), op.outputs.begin(), op.outputs.end());
    for (const TensorIndex i : op.keeps) moving.push_back(i);
    const auto features = [&](Shape& shape) { cut_features(shape, t_); };
    switch (spec) {
      case Spec::row:
        each(moving, [&](Shape& shape) { cut_rows(shape, t_, attention || by_batch()); });
        break;
      case Spec::feature:
        each(moving, features);
        break;
      case Spec::column:
        each(op.outputs, features);
        cut_weights(op, contracted(op));
        break;
      case Spec::contract:
        if (op.kind == OperatorKind::embedding) {
          cut(local_.tensors[op.parameters.front()].shape.front(), t_);
        } else {
          each({op.inputs.front()}, features);
          cut_weights(op, 0);
        }
        break;
      case Spec::replicated:
        break;
    }
    return local;
  }

  void restore(const Operator& op) {
    for (const auto* list : {&op.inputs, &op.outputs, &op.parameters, &op.keeps}) {
      for (const TensorIndex i : *list) local_.tensors[i].shape = whole_.tensor(i).shape;
    }
  }

 private:
  // Every weight along one of its axes, counted behind stacked experts; of biases only output features.
  void cut_weights(const Operator& op, std::size_t axis) {
    const std::size_t stacked = op.kind == OperatorKind::grouped_matmul ? 1 : 0;
    const std::size_t weight = contracted(op) + stacked;
    for (const TensorIndex p : op.parameters) {
      Shape& shape = local_.tensors[p].shape;
      const bool bias = shape.size() <= weight;
      if (bias && axis == 0) continue;
      const std::size_t at = bias ? std::min(stacked, shape.size() - 1) : axis + stacked;
      if (at < shape.size()) cut(shape[at], t_);
    }
  }

  LayerType local_;
  const LayerType& whole_;
  std::int64_t t_;
  std::int64_t batch_ = 1;
};

// Whether the product's weight is one that plans split over the tensor ranks.
bool splits_over_tensor(const LayerType& layer, const Operator& op) {
  if (op.kind == OperatorKind::embedding) return true;
  if (!is_product(op)) return false;
  const Shape& out = layer.tensor(op.outputs.front()).shape;
  const Axis axis = out[std::min(first_feature(out), out.size() - 1)].axis;
  return axis != Axis::experts && axis != Axis::latent && axis != Axis::other && axis != Axis::classes;
}

bool shards_features(Spec spec) {
  return spec == Spec::column || spec == Spec::contract;
}

}  // namespace

Seconds dense_gradients(double parameters, const TwoLevelMesh& mesh, const LayerSplit& split,
                        const Recipe& recipe, bool over_tensor) {
  const std::int64_t t = split.strategy.tensor;
  const std::int64_t ranks = split.copies * split.strategy.cell() / t;
  const MeshAxis axis = over_tensor ? mesh.axis(ranks * t, 1) : mesh.axis(ranks, t);
  return axis.all_reduce(parameters * static_cast<double>(size_of(recipe.reduce_dtype)));
}

Seconds expert_gradients(double parameters, const TwoLevelMesh& mesh, const LayerSplit& split,
                         const Recipe& recipe) {
  const std::int64_t own = split.strategy.expert_tensor_degree() * split.strategy.expert;
  const MeshAxis axis = mesh.axis(split.copies * split.strategy.cell() / own, own);
  return axis.all_reduce(parameters * static_cast<double>(size_of(recipe.reduce_dtype)));
}

LayerSharder::LayerSharder(const PlanInputs& inputs, const TwoLevelMesh& mesh, Precision precision)
    : inputs_(&inputs), mesh_(&mesh), precision_(precision), pricer_(inputs.recipe, inputs.cluster) {}

const LayerSharder::Shards& LayerSharder::shards(const LayerType& layer, const Strategy& s) {
  const auto [at, made] = shards_.try_emplace({&layer, s.tensor, s.expert, s.context});
  if (!made) return at->second;
  Sharding sharding(layer, s.tensor);
  const double share = 1 / static_cast<double>(s.context);
  for (const Operator& op : layer.operators) {
    std::vector<Shard>& own = at->second.emplace_back();
    for (const Spec spec : {Spec::replicated, Spec::row, Spec::column, Spec::contract, Spec::feature}) {
      if (!sharding.allows(op, spec)) continue;
      const Operator local = sharding.cut_operator(op, spec, s.expert);
      const OperatorTime time = pricer_.time(sharding.layer(), local, precision_);
      Shard& shard = own.emplace_back(Shard{spec, share * time.forward, share * time.backward()});
      for (const TensorIndex p : op.parameters) {
        const Tensor& tensor = sharding.layer().tensor(p);
        if (tensor.role != Role::parameter) continue;
        (has_experts(tensor) ? shard.expert_parameters : shard.dense_parameters) +=
            static_cast<double>(elements(tensor.shape));
      }
      sharding.restore(op);
    }
  }
  return at->second;
}

Way LayerSharder::way(const Operator& op, const Shard& shard, const LayerType& layer,
                      const LayerSplit& split) const {
  using enum Layout;
  const Recipe& recipe = inputs_->recipe;
  const double passes = split.again ? 2 : 1;
  const bool row = shard.spec == Spec::row;
  Seconds sums = dense_gradients(shard.dense_parameters, *mesh_, split, recipe, row);
  sums += expert_gradients(shard.expert_parameters, *mesh_, split, recipe);
  Way way{shard.spec, {}, {}, passes * shard.forward + shard.backward};
  way.time += (1 / static_cast<double>(split.micro_batches)) * sums;
  const bool sends = op.kind == OperatorKind::dispatch || op.kind == OperatorKind::combine;
  if (sends && split.strategy.expert > 1) {
    // Rows go to the devices of their experts, and back: what a device sends is its share of them.
    const TensorIndex rows = op.kind == OperatorKind::dispatch ? op.outputs.front() : op.inputs.front();
    const double share = row ? 1 / static_cast<double>(split.strategy.tensor) : 1;
    const std::int64_t step = std::max<std::int64_t>(1, split.strategy.cell() / split.strategy.expert);
    const MeshAxis axis = mesh_->axis(split.strategy.expert, step);
    way.time += (passes + 1) * axis.all_to_all(share * static_cast<double>(layer.tensor(rows).bytes().value));
  }
  Flow in{whole, whole};
  way.output = in;
  switch (shard.spec) {
    case Spec::replicated:
      break;
    case Spec::row:
      in = way.output = {rows, rows};
      break;
    case Spec::feature:
      in = way.output = {features, features};
      break;
    case Spec::column:
      in = {whole, partial};
      way.output = {features, features};
      break;
    case Spec::contract:
      if (op.kind != OperatorKind::embedding) in = {features, features};
      way.output = {partial, whole};
      break;
  }
  way.inputs.assign(op.inputs.size(), in);
  return way;
}

ShardProblem LayerSharder::problem(const LayerType& layer, bool feeds, const LayerSplit& split) {
  const Strategy& s = split.strategy;
  const Layout ends = s.shards_sequence() ? Layout::rows : Layout::whole;
  ShardProblem problem{mesh_->axis(s.tensor, 1), split.again ? 2.0 : 1.0, {}};
  std::vector<std::optional<std::size_t>> maker(layer.tensors.size());
  const auto use = [&](TensorIndex i) {
    return Use{*maker[i], static_cast<double>(layer.tensor(i).bytes().value)};
  };
  for (const TensorIndex i : layer.inputs) {
    maker[i] = problem.operators.size();
    problem.operators.push_back({{}, {{Spec::replicated, {}, {ends, ends}, Seconds{0}}}});
  }
  const Shards& all = shards(layer, s);
  for (std::size_t o = 0; o < layer.operators.size(); ++o) {
    const Operator& op = layer.operators[o];
    ShardOperator made;
    const bool experts = op.kind == OperatorKind::grouped_matmul;
    const bool by_rows = experts && s.expert_tensor_degree() == 1;
    const auto wanted = [&](const Shard& shard) {
      if (split.any_spec || !splits_over_tensor(layer, op)) return true;
      return by_rows ? shard.spec == Spec::row : shards_features(shard.spec);
    };
    const bool limited = std::any_of(all[o].begin(), all[o].end(), wanted);
    for (const Shard& shard : all[o]) {
      if (!limited || wanted(shard)) made.ways.push_back(way(op, shard, layer, split));
    }
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      if (maker[op.inputs[k]]) {
        made.inputs.push_back(use(op.inputs[k]));
        continue;
      }
      for (Way& w : made.ways) w.inputs.pop_back();
    }
    for (const TensorIndex i : op.outputs) maker[i] = problem.operators.size();
    problem.operators.push_back(std::move(made));
  }
  if (!feeds) return problem;
  ShardOperator out{{}, {{Spec::replicated, {}, {}, Seconds{0}}}};
  for (const TensorIndex i : layer.outputs) {
    if (!maker[i]) continue;
    out.inputs.push_back(use(i));
    out.ways.front().inputs.push_back({ends, ends});
  }
  problem.operators.push_back(std::move(out));
  return problem;
}

}  // namespace nest::solve::alpa
