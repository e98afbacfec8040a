#include "nest/strategies/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nest/strategies/context.hpp"
#include "nest/strategies/expert.hpp"
#include "nest/strategies/sequence.hpp"
#include "nest/strategies/tensor.hpp"

namespace nest::strategies {
namespace {

std::optional<Refusal> check_degrees(const Model& model, const Strategy& s) {
  const std::pair<const char*, std::int64_t> degrees[] = {{"tensor", s.tensor},
                                                          {"context", s.context},
                                                          {"expert", s.expert},
                                                          {"expert tensor", s.expert_tensor_degree()}};
  for (const auto& [name, degree] : degrees) {
    if (degree < 1)
      return Refusal{"degree", std::string(name) + " " + std::to_string(degree) + " is below 1"};
  }
  if (std::string problem = context_inner_problem(s); !problem.empty())
    return Refusal{"context_inner", std::move(problem)};
  if (std::any_of(model.types.begin(), model.types.end(), has_experts)) return std::nullopt;
  if (s.expert > 1)
    return Refusal{"expert_none",
                   "expert " + std::to_string(s.expert) + ": " + model.name + " has no experts"};
  const std::int64_t x = s.expert_tensor_degree();
  if (x != 1 && x != s.tensor) {
    return Refusal{"expert_tensor_none",
                   "expert tensor " + std::to_string(x) + ": " + model.name + " has no experts"};
  }
  return std::nullopt;
}

}  // namespace

std::span<const SubgraphStrategy> subgraph_strategies() {
  static const std::array<SubgraphStrategy, 4> kTable{context_strategy(), tensor_strategy(),
                                                      sequence_strategy(), expert_strategy()};
  return kTable;
}

std::optional<Refusal> check_strategy(const Model& model, const Strategy& s,
                                      std::span<const SubgraphStrategy> table) {
  if (auto refusal = check_degrees(model, s)) return refusal;
  std::optional<Refusal> of_framework;
  if (s.sequence_parallel && s.tensor == 1)
    of_framework = {"sequence_parallel_tensor", "sequence parallelism needs tensor above 1 (Megatron)", true};
  for (const SubgraphStrategy& row : table) {
    if (!row.active(s)) continue;
    for (const LayerType& type : model.types) {
      const std::optional<Refusal> refusal = row.check(type, s);
      if (refusal && !refusal->framework) return refusal;
      if (refusal && !of_framework) of_framework = refusal;
    }
  }
  return of_framework;
}

ShardedLayer shard_layer(const LayerType& layer, const Strategy& strategy, const ShardOptions& options,
                         std::span<const SubgraphStrategy> table) {
  LayerTransform transform(layer, strategy, options);
  for (const SubgraphStrategy& row : table) {
    if (row.active(strategy)) row.apply(transform);
  }
  // Where no strategy cuts the experts, their rows are filled up to the capacity all the same.
  if (strategy.cell() == 1 && options.capacity_factor > 0) {
    for (TensorIndex i = 0; i < transform.tensors(); ++i) {
      if (transform.is_activation(i) && transform.has(i, Axis::routed))
        transform.stretch(i, Axis::routed, options.capacity_factor);
    }
  }
  return std::move(transform).finish();
}

std::vector<ShardedLayer> shard_types(const Model& model, const Strategy& strategy,
                                      const ShardOptions& options, std::span<const SubgraphStrategy> table) {
  std::vector<ShardedLayer> out;
  out.reserve(model.types.size());
  for (const LayerType& type : model.types) out.push_back(shard_layer(type, strategy, options, table));
  return out;
}

}  // namespace nest::strategies
