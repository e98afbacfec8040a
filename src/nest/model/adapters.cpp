#include "nest/model/adapters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace nest::model {
namespace {

constexpr std::string_view kAllLinear = "all-linear";

// What a target's name means: an operator, and of its results one or, without a word, all of them together.
struct Target {
  std::string_view name;
  std::string_view product;
  std::string_view result;
};
constexpr std::array<Target, 44> kTargets{{{"linear_qkv", "qkv", ""},
                                           {"linear_qkv", "q", ""},
                                           {"linear_qkv", "kv", ""},
                                           {"linear_qkv", "q_down", ""},
                                           {"linear_qkv", "q_up", ""},
                                           {"linear_qkv", "kv_down", ""},
                                           {"linear_qkv", "kv_up", ""},
                                           {"linear_proj", "output", ""},
                                           {"linear_fc1", "gate_up", ""},
                                           {"linear_fc1", "up", ""},
                                           {"linear_fc2", "down", ""},
                                           {"linear_q_proj", "q", ""},
                                           {"linear_q_down_proj", "q_down", ""},
                                           {"linear_q_up_proj", "q_up", ""},
                                           {"linear_kv_down_proj", "kv_down", ""},
                                           {"linear_kv_up_proj", "kv_up", ""},
                                           {"q_proj", "qkv", "q"},
                                           {"q_proj", "q", "q"},
                                           {"k_proj", "qkv", "k"},
                                           {"k_proj", "kv", "k"},
                                           {"v_proj", "qkv", "v"},
                                           {"v_proj", "kv", "v"},
                                           {"q_a_proj", "q_down", ""},
                                           {"q_b_proj", "q_up", ""},
                                           {"kv_a_proj_with_mqa", "kv_down", ""},
                                           {"kv_b_proj", "kv_up", ""},
                                           {"o_proj", "output", ""},
                                           {"gate_proj", "gate_up", "gate"},
                                           {"up_proj", "gate_up", "up"},
                                           {"up_proj", "up", ""},
                                           {"down_proj", "down", ""},
                                           {"query_key_value", "qkv", ""},
                                           {"in_proj", "in_proj", ""},
                                           {"in_proj", "ssm_in", ""},
                                           {"in_proj", "delta_in", ""},
                                           {"in_proj", "mlstm_in", ""},
                                           {"in_proj", "lightning_in", ""},
                                           {"in_proj", "recurrent_in", ""},
                                           {"out_proj", "out_proj", ""},
                                           {"out_proj", "ssm_out", ""},
                                           {"out_proj", "delta_out", ""},
                                           {"out_proj", "mlstm_out", ""},
                                           {"out_proj", "lightning_out", ""},
                                           {"out_proj", "recurrent_out", ""}}};

bool is_product(const Operator& op) {
  return op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
}

// The operator's name without the part of the block that it belongs to.
std::string_view stem_of(std::string_view name) {
  for (const std::string_view part : {"cross_", "shared.", "experts."}) {
    if (name.starts_with(part)) return name.substr(part.size());
  }
  return name;
}

// Routers and gates of one value a token are no linear layers of their own to those who name all of them.
bool is_linear(const LayerType& layer, const Operator& op) {
  return op.name != "router" && layer.tensor(op.outputs.front()).shape.back().axis != Axis::other;
}

// Results of one product that one adapter stands beside.
using Group = std::vector<std::size_t>;

std::vector<Group> groups_of(const LayerType& layer, const Operator& op,
                             const std::vector<std::string>& targets, FoundTargets& found) {
  std::vector<Group> groups;
  std::map<std::size_t, std::string> taken;
  const auto take = [&](const std::string& target, const Group& wanted) {
    found.found.insert(target);
    Group own;
    for (const std::size_t i : wanted) {
      const auto [at, first] = taken.try_emplace(i, target);
      if (first) own.push_back(i);
      if (at->second != target && !found.twice) found.twice = {at->second, target, op.name};
    }
    if (!own.empty()) groups.push_back(std::move(own));
  };
  Group all;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) all.push_back(i);
  for (const std::string& target : targets) {
    if (target == op.name) take(target, all);
    if (target == kAllLinear && is_linear(layer, op)) {
      for (const std::size_t i : all) take(target, {i});
    }
    for (const Target& row : kTargets) {
      if (row.name != target || row.product != stem_of(op.name)) continue;
      if (row.result.empty()) take(target, all);
      for (const std::size_t i : all) {
        if (layer.tensor(op.outputs[i]).name == row.result) take(target, {i});
      }
    }
  }
  return groups;
}

class AdapterMaker {
 public:
  AdapterMaker(LayerType& layer, std::int64_t rank) : layer_(&layer), rank_{Axis::rank, rank} {}

  // The operators that follow the product, which then makes results of another name.
  std::vector<Operator> beside(Operator& op, const Group& group) {
    const TensorIndex in = op.inputs.front();
    const Shape read = layer_->tensor(in).shape;
    const std::string name = group.size() == op.outputs.size()
                                 ? op.name
                                 : op.name + "." + layer_->tensor(op.outputs[group.front()]).name;
    const Shape experts = op.kind == OperatorKind::grouped_matmul
                              ? Shape{layer_->tensor(op.parameters.front()).shape.front()}
                              : Shape{};
    const std::size_t contracted = contracted_axes(op, experts.size());
    const Shape rows(read.begin(), read.end() - static_cast<std::ptrdiff_t>(contracted));
    const Shape contract(read.end() - static_cast<std::ptrdiff_t>(contracted), read.end());

    const TensorIndex middle = add({name + ".lora_middle", join(rows, {rank_})});
    std::vector<Operator> made;
    made.push_back(
        product(op.kind, name + ".lora_a", in, {middle}, {join(experts, join(contract, {rank_}))}));
    std::vector<TensorIndex> deltas;
    std::vector<Shape> weights;
    for (const std::size_t i : group) {
      const Tensor& whole = layer_->tensor(op.outputs[i]);
      const Shape features(whole.shape.begin() + static_cast<std::ptrdiff_t>(rows.size()), whole.shape.end());
      weights.push_back(join(experts, join({rank_}, features)));
      deltas.push_back(add({whole.name + ".lora", whole.shape}));
    }
    made.push_back(product(op.kind, name + ".lora_b", middle, deltas, weights));
    for (std::size_t k = 0; k < group.size(); ++k) {
      TensorIndex& result = op.outputs[group[k]];
      const TensorIndex whole = result;
      const Tensor like = layer_->tensor(whole);
      result = add({like.name + ".frozen", like.shape});
      const TensorIndex scaled = add({like.name + ".scaled", like.shape});
      const std::string own = group.size() == 1 ? name : op.name + "." + like.name;
      Operator scale{own + ".lora_scale", OperatorKind::scale, {deltas[k]}};
      scale.outputs = {scaled};
      Operator sum{own + ".lora_add", OperatorKind::add, {result, scaled}};
      sum.outputs = {whole};
      made.push_back(std::move(scale));
      made.push_back(std::move(sum));
    }
    return made;
  }

 private:
  TensorIndex add(Tensor tensor) {
    layer_->tensors.push_back(std::move(tensor));
    return layer_->tensors.size() - 1;
  }

  // in [rows, contract] times [contract, features] is [rows, features].
  std::size_t contracted_axes(const Operator& op, std::size_t stacked) const {
    const std::size_t in = layer_->tensor(op.inputs.front()).shape.size();
    const std::size_t weight = layer_->tensor(op.parameters.front()).shape.size() - stacked;
    const std::size_t out = layer_->tensor(op.outputs.front()).shape.size();
    return (in + weight - out) / 2;
  }

  Operator product(OperatorKind kind, const std::string& name, TensorIndex in,
                   const std::vector<TensorIndex>& outputs, const std::vector<Shape>& weights) {
    Operator op{name, kind, {in}};
    op.keeps = {in};
    op.outputs = outputs;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::string part = weights.size() == 1 ? "" : "." + layer_->tensor(outputs[i]).name;
      // Outside the model's own count.
      op.parameters.push_back(add({name + part + ".weight", weights[i], DType::bf16, Role::parameter, true}));
      op.forward_flops += product_flops(in, outputs[i]);
    }
    return op;
  }

  // One of the two sides ends in the rank: what lies before it is the rows.
  Flops product_flops(TensorIndex in, TensorIndex out) const {
    const auto all = [&](TensorIndex i) { return static_cast<double>(elements(layer_->tensor(i).shape)); };
    const bool down = layer_->tensor(out).shape.back().axis == Axis::rank;
    return Flops{2 * all(down ? in : out) * static_cast<double>(rank_.size)};
  }

  LayerType* layer_;
  Dim rank_;
};

}  // namespace

void add_adapters(LayerType& layer, std::int64_t rank, const std::vector<std::string>& targets,
                  FoundTargets& found) {
  AdapterMaker maker(layer, rank);
  for (Operator& op : std::exchange(layer.operators, {})) {
    if (!is_product(op)) {
      layer.operators.push_back(std::move(op));
      continue;
    }
    std::vector<Operator> beside;
    for (const Group& group : groups_of(layer, op, targets, found)) {
      for (Operator& made : maker.beside(op, group)) beside.push_back(std::move(made));
    }
    layer.operators.push_back(std::move(op));
    for (Operator& made : beside) layer.operators.push_back(std::move(made));
  }
}

std::vector<std::string> targets_of(const LayerType& layer) {
  std::vector<std::string> names;
  for (const Target& row : kTargets) {
    const bool has = std::ranges::any_of(layer.operators, [&](const Operator& op) {
      return is_product(op) && row.product == stem_of(op.name);
    });
    if (has && std::ranges::find(names, row.name) == names.end()) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace nest::model
