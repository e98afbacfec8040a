#include "nest/solve/baselines/alpa/alpa_beliefs.hpp"

namespace nest::solve::alpa {

LayerBeliefs::LayerBeliefs(const PlanQuestion& question, const TwoLevelMesh& mesh, CostBook& book)
    : question_(&question),
      mesh_(&mesh),
      book_(&book),
      sharder_(question.inputs, mesh, question.training.precision) {}

std::vector<LayerId> LayerBeliefs::order(std::int64_t micro_batch) {
  const LayerGraph& graph = book_->model(micro_batch, question_->training).graph;
  std::vector<int> waits(graph.layers(), 0);
  for (const Edge& edge : graph.edges()) ++waits[edge.to.index()];
  std::vector<LayerId> order;
  while (order.size() < graph.layers()) {
    std::size_t next = 0;
    while (next < waits.size() && waits[next] != 0) ++next;
    if (next == waits.size()) break;  // no graph has cycles
    waits[next] = -1;
    order.emplace_back(static_cast<std::int32_t>(next));
    for (const Edge& edge : graph.edges()) {
      if (edge.from.index() == next) --waits[edge.to.index()];
    }
  }
  return order;
}

std::vector<std::size_t> LayerBeliefs::units(std::int64_t micro_batch) {
  const LayerGraph& graph = book_->model(micro_batch, question_->training).graph;
  std::vector<std::size_t> units;
  const std::vector<LayerId> all = order(micro_batch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!graph.is_joined(all[i])) units.push_back(i);
  }
  return units;
}

std::vector<Seconds> LayerBeliefs::times(std::int64_t micro_batch, const LayerSplit& split) {
  const BuiltModel& built = book_->model(micro_batch, question_->training);
  const LayerProfile* profile = question_->inputs.profile();
  const std::vector<Seconds> by_id =
      profile != nullptr ? profile_times(*profile, split) : model_times(built, split);
  std::vector<Seconds> times;
  for (const LayerId id : order(micro_batch)) times.push_back(by_id[id.index()]);
  return times;
}

std::vector<Seconds> LayerBeliefs::profile_times(const LayerProfile& profile, const LayerSplit& split) const {
  const Strategy& s = split.strategy;
  const ProfileStrategy* own = nullptr;
  for (const ProfileStrategy& p : profile.strategies) {
    if (p.tensor != s.tensor || p.expert != s.expert || p.context != s.context) continue;
    if (own == nullptr || p.sequence_parallel == s.sequence_parallel) own = &p;
  }
  std::vector<Seconds> times;
  if (own == nullptr) return times;
  const Recipe& recipe = question_->inputs.recipe;
  const auto count = [&](Bytes bytes) {
    return static_cast<double>(bytes.value) / static_cast<double>(profile.parameter_dtype_bytes);
  };
  for (const ProfileLayer& layer : own->layers) {
    const Seconds sums =
        dense_gradients(count(layer.parameters - layer.expert_parameters), *mesh_, split, recipe) +
        expert_gradients(count(layer.expert_parameters), *mesh_, split, recipe);
    const double passes = split.again ? 2 : 1;
    times.push_back(passes * layer.forward + layer.backward +
                    (1 / static_cast<double>(split.micro_batches)) * sums);
  }
  return times;
}

std::vector<Seconds> LayerBeliefs::model_times(const BuiltModel& built, const LayerSplit& split) {
  const Model& model = *built.model;
  std::vector<bool> feeds(model.types.size(), false);
  for (const Edge& edge : model.edges) feeds[model.layers[edge.from.index()].type] = true;
  std::vector<Seconds> by_type;
  for (std::size_t type = 0; type < model.types.size(); ++type) {
    LayerSplit own = split;
    own.again = split.again && can_recompute(model.types[type]);
    const ShardChoice choice = solve_sharding(sharder_.problem(model.types[type], feeds[type], own));
    transitions_ += choice.transitions;
    by_type.push_back(choice.time);
  }
  std::vector<Seconds> times;
  times.reserve(model.layers.size());
  for (const Layer& layer : model.layers) times.push_back(by_type[layer.type]);
  return times;
}

}  // namespace nest::solve::alpa
