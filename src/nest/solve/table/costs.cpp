#include "nest/solve/table/costs.hpp"

#include <algorithm>

#include "nest/price/network/shared_cells.hpp"

namespace nest::solve {
namespace {

// More are cut down to the layers in their order; the proof then has a gap.
constexpr std::size_t kMostDownsets = 6000;

// Whether all edges are `scale` times as large.
bool scaled(const LayerGraph& small, const LayerGraph& large, std::int64_t scale) {
  return std::equal(small.edges().begin(), small.edges().end(), large.edges().begin(), large.edges().end(),
                    [&](const Edge& a, const Edge& b) { return a.bytes * scale == b.bytes; });
}

Bytes least_boundary(const LayerSets& sets, Bytes StageClass::* side) {
  Bytes least = Bytes::most();
  for (std::int32_t state = 0; state < sets.all(); ++state) {
    const auto moves = sets.moves(state);
    if (state == 0 || moves.empty()) continue;
    least = std::min(least, sets.classes()[static_cast<std::size_t>(moves.front().stage_class)].*side);
  }
  return least == Bytes::most() ? Bytes{0} : least;
}

}  // namespace

SearchCosts::SearchCosts(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
                         const std::vector<std::int64_t>& micro_batches, const SearchOptions& options)
    : inputs_(&inputs),
      constants_(inputs.constants()),
      collectives_(inputs.cluster, constants_),
      coster_(recipe_for(inputs.recipe, training), inputs.cluster, collectives_, options.memory_margin),
      capacity_(coster_.allocatable()),
      book_(inputs) {
  const bool listed = std::any_of(space.recompute.begin(), space.recompute.end(),
                                  [](const Recompute& r) { return r.policy == RecomputePolicy::selective; });
  selective_ = inputs.profile() == nullptr || listed;
  const bool contiguous = space.rules != nullptr && space.rules->contiguous_stages;
  for (const std::int64_t size : micro_batches) {
    options.deadline.look();
    Batch batch;
    batch.training = training;
    batch.training.micro_batch = size;
    batch.model = &book_.model(size, training);
    if (kinds_.empty()) {
      kinds_ =
          inputs.profile() != nullptr ? layer_kinds(*inputs.profile()) : layer_kinds(*batch.model->model);
    }
    for (const Batch& other : batches_) {
      const std::int64_t scale = size / other.training.micro_batch;
      if (size % other.training.micro_batch != 0 || !scaled(other.model->graph, batch.model->graph, scale))
        continue;
      batch.sets = other.sets;
      batch.graph = other.graph;
      batch.scale = scale;
      batch.least_boundary = scale * other.least_boundary;
      batch.least_returning = scale * other.least_returning;
      break;
    }
    if (batch.sets == nullptr) {
      sets_.push_back(std::make_unique<LayerSets>(batch.model->graph, kinds_, kMostDownsets, contiguous,
                                                  options.deadline, options.memory_limit));
      batch.sets = sets_.back().get();
      batch.graph = &batch.model->graph;
      batch.least_boundary = least_boundary(*batch.sets, &StageClass::after);
      batch.least_returning = least_boundary(*batch.sets, &StageClass::returning);
    }
    batches_.push_back(batch);
  }
}

std::string SearchCosts::refusal(const Batch& batch, const Strategy& strategy) {
  const std::lock_guard lock(mutex_);
  return book_.refusal(batch.training, strategy);
}

Seconds SearchCosts::spread(const Batch& batch, const Strategy& strategy) {
  const std::lock_guard lock(mutex_);
  return book_.spread(batch.training, strategy);
}

const LayerTable* SearchCosts::plain(const LayerTable& table, std::size_t layers) {
  std::unique_ptr<LayerTable>& known = plain_[&table];
  if (!known) {
    std::vector<LayerTerms> terms;
    for (std::size_t i = 0; i < layers; ++i) {
      LayerTerms& t = terms.emplace_back(table.of(LayerId(static_cast<std::int32_t>(i))));
      for (const Term term :
           {Term::forward_tensor, Term::forward_expert, Term::forward_context, Term::backward_tensor,
            Term::backward_expert, Term::backward_context, Term::partial_parameters})
        t.of(term) = 0;
    }
    known = std::make_unique<LayerTable>(std::move(terms));
  }
  return known.get();
}

Place SearchCosts::place(const Batch& batch, const Strategy& strategy, const StageNetwork& network,
                         bool collectives) {
  Place place;
  place.network = &network;
  place.strategy = strategy;
  place.costs = this;
  place.batch = &batch;
  place.collectives = collectives;
  const std::lock_guard lock(mutex_);
  StageNetwork key;
  key.cell = place.cell = shared_cell(cells_, strategy, network.cell);
  for (const RecomputePolicy policy :
       {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::full}) {
    if (policy == RecomputePolicy::selective && !selective_) continue;
    const LayerTable& table = book_.table(batch.training, strategy, policy, key);
    place.tables[static_cast<std::size_t>(policy)] =
        collectives ? &table : plain(table, batch.sets->layers());
  }
  return place;
}

const LayerTable& SearchCosts::table(const Place& place, const LayerPolicy& policy) {
  const std::lock_guard lock(mutex_);
  StageNetwork key;
  key.cell = place.cell;
  const LayerTable& table = book_.table(place.batch->training, place.strategy, policy, key);
  return place.collectives ? table : *plain(table, place.batch->sets->layers());
}

const LayerTable& Place::other(const LayerPolicy& policy) const {
  for (const auto& [known, table] : others_) {
    if (known == policy) return *table;
  }
  return *others_.emplace_back(policy, &costs->table(*this, policy)).second;
}

}  // namespace nest::solve
