#include "nest/price/layers/cost_book.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/base/hash.hpp"
#include "nest/model/tuned_model.hpp"
#include "nest/price/network/shared_cells.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::price {
namespace {

// More than this is started afresh: lines with device ids or ever new sequences would fill the memory.
constexpr std::size_t kMostKept = 4096;
constexpr std::size_t kMostModels = 64;

std::array<std::int64_t, 7> degrees_of(const Strategy& s) {
  return {s.tensor,
          s.shards_sequence() ? 1 : 0,
          s.context,
          s.context_key(),
          s.expert,
          s.expert_tensor_degree(),
          2 * static_cast<std::int64_t>(s.used_dispatcher()) + (s.overlaps_experts() ? 1 : 0)};
}

BuiltModel built(const PlanInputs& inputs, const BuildOptions& options, const Tuning& tuning) {
  if (const LayerProfile* profile = inputs.profile())
    return {std::nullopt, LayerGraph(*profile), Flops{0}, Flops{0}};
  Model model = tuned(build_model(std::get<ModelSpec>(inputs.source), options), tuning);
  LayerGraph graph(model);
  const Flops flops = model.forward_flops();
  const Flops saved = model.saved_flops();
  return {std::move(model), std::move(graph), flops, saved};
}

// Of those with the same degrees, the one that says the same of sequence parallelism, else the only one.
const ProfileStrategy* find_strategy(const LayerProfile& profile, const Strategy& s) {
  const ProfileStrategy* other = nullptr;
  for (const ProfileStrategy& own : profile.strategies) {
    if (own.tensor != s.tensor || own.expert != s.expert || own.context != s.context) continue;
    if (own.tensor == 1 || own.sequence_parallel == s.sequence_parallel) return &own;
    other = &own;
  }
  return other;
}

}  // namespace

std::size_t CostBook::Hash::operator()(const PlacementKey& key) const {
  std::size_t hash = 0;
  for (const std::int64_t d : key.degrees) mix_hash(hash, static_cast<std::size_t>(d));
  mix_hash(hash, static_cast<std::size_t>(key.shape.stages));
  mix_hash(hash, static_cast<std::size_t>(key.shape.inner));
  mix_hash(hash, static_cast<std::size_t>(key.shape.outer));
  mix_hash(hash, static_cast<std::size_t>(key.shape.block_devices));
  mix_hash(hash, static_cast<std::size_t>(key.zero_shards * 2 + (key.shape.first_stage_first ? 1 : 0)));
  return hash;
}

std::size_t CostBook::Hash::operator()(const TableKey& key) const {
  std::size_t hash = reinterpret_cast<std::size_t>(std::get<5>(key));
  mix_hash(hash, static_cast<std::size_t>(std::get<0>(key)));
  mix_hash(hash, static_cast<std::size_t>(std::get<1>(key)));
  const LayerPolicy& policy = std::get<4>(key);
  mix_hash(hash, static_cast<std::size_t>(std::get<3>(key)) * 4 + static_cast<std::size_t>(policy.policy));
  if (!policy.modules.empty()) mix_hash(hash, policy.modules.bits());
  if (std::get<2>(key) > 0) mix_hash(hash, std::get<2>(key));
  return hash;
}

CostBook::CostBook(const PlanInputs& inputs, double compute_time)
    : inputs_(&inputs),
      pricer_(inputs.recipe, inputs.cluster, inputs.strategy_table(), compute_time),
      constants_(pricer_.constants()),
      collectives_(inputs.cluster, constants_) {}

void CostBook::trim() {
  const bool many = cells_.size() > kMostKept || tables_.size() > kMostKept ||
                    placements_.size() > kMostKept || computes_.size() > kMostKept ||
                    models_.size() > kMostModels;
  if (!many) return;
  ++generation_;
  tables_.clear();
  placements_.clear();
  listed_.clear();
  cells_.clear();
  computes_.clear();
  models_.clear();
  kinds_.assign(1, Kind{});
}

std::size_t CostBook::number_of(const Training& training) {
  const Kind kind{training.contents, training.tuning, training.mtp};
  const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
  if (known == kinds_.end()) kinds_.push_back(kind);
  return static_cast<std::size_t>(known - kinds_.begin());
}

const BuiltModel& CostBook::model(std::int64_t micro_batch, const Training& training) {
  const ModelKey key{micro_batch, training.sequence, number_of(training)};
  const auto known = models_.find(key);
  if (known != models_.end()) return known->second;
  BuildOptions options = pricer_.build_options(micro_batch, training.sequence);
  options.contents = training.contents;
  options.mtp = training.mtp;
  return models_.emplace(key, built(*inputs_, options, training.tuning)).first->second;
}

Seconds CostBook::spread(const Training& training, const Strategy& strategy) {
  if (!training.contents.lengths || inputs_->profile() != nullptr) return {};
  Computes& all = computes(training, strategy);
  if (all.spread) return *all.spread;
  const std::vector<ShardedLayer>& types = sharded(all, training, strategy);
  std::vector<Seconds> of_type;
  for (const ShardedLayer& type : types) {
    Seconds& sum = of_type.emplace_back();
    for (const Operator& op : type.layer.operators) {
      if (op.kind != OperatorKind::attention || !op.attention.packed) continue;
      const OperatorTime time = pricer_.time(type.layer, op, training.precision);
      sum += op.attention.packed->deviation(op.attention.causal, op.attention.window) *
             (time.forward + time.backward());
    }
  }
  Seconds sum;
  if (!types.empty()) {
    for (const Layer& layer : model(training.micro_batch, training).model->layers) sum += of_type[layer.type];
  }
  // The sequences of a micro-batch are drawn one by one.
  all.spread = (1 / std::sqrt(static_cast<double>(training.micro_batch))) * sum;
  return *all.spread;
}

CostBook::Computes& CostBook::computes(const Training& training, const Strategy& strategy) {
  const StrategyKey key{key_of(training), training.precision, degrees_of(strategy)};
  const auto known = computes_.find(key);
  if (known != computes_.end()) return known->second;
  Computes made;
  if (const LayerProfile* profile = inputs_->profile()) {
    if (find_strategy(*profile, strategy) == nullptr)
      made.refusal = "the layer profile has no costs for " + spell(strategy);
  } else {
    const Model& model = *this->model(training).model;
    const auto refusal = check_strategy(model, strategy, inputs_->strategy_table());
    if (refusal && !refusal->framework) made.refusal = refusal->sentence;
  }
  return computes_.emplace(key, std::move(made)).first->second;
}

const std::vector<ShardedLayer>& CostBook::sharded(Computes& all, const Training& training,
                                                   const Strategy& strategy) {
  if (all.sharded.empty() && all.refusal.empty() && inputs_->profile() == nullptr)
    all.sharded = pricer_.sharded(*model(training).model, strategy);
  return all.sharded;
}

const std::string& CostBook::refusal(const Training& training, const Strategy& strategy) {
  return computes(training, strategy).refusal;
}

const std::vector<LayerCompute>& CostBook::computes(const Training& training, const Strategy& strategy,
                                                    const LayerPolicy& policy) {
  Computes& all = computes(training, strategy);
  std::vector<LayerCompute>& own = all.by_policy[policy];
  if (!own.empty()) return own;
  // Strategies that differ in their exchanges with experts alone share all the rest.
  Strategy plain = strategy;
  plain.dispatcher = Dispatcher::alltoall;
  plain.expert_overlap = false;
  if (plain == strategy) {
    own = pricer_.computes(sharded(all, training, strategy), policy, training.precision);
  } else {
    own = computes(training, plain, policy);
    for (LayerCompute& compute : own) set_exchange(compute, strategy);
  }
  return own;
}

void CostBook::share_cells(PlanNetwork& network, std::span<const Strategy> strategies) {
  for (std::size_t i = 0; i < network.stages.size(); ++i) {
    StageNetwork& stage = network.stages[i];
    stage.cell = shared_cell(cells_, strategies[i], stage.cell);
  }
}

const PlanNetwork* CostBook::network(const Strategy& strategy, const PlacementShape& shape,
                                     const NetworkOptions& options) {
  const PlacementKey key{
      degrees_of(strategy), shape,       options.zero_shards, options.wrap, options.tied_first,
      options.tied_last,    options.near};
  const auto known = placements_.find(key);
  if (known != placements_.end()) return known->second.get();
  // The same placement is often asked for with other shards, or the other way round.
  PlacementShape slots = shape;
  slots.first_stage_first = false;
  if (!slots_ || !(slots_strategy_ == strategy) || !(slots_shape_ == slots)) {
    slots_ = SlotNetwork::make(inputs_->cluster, constants_, strategy, slots);
    slots_strategy_ = strategy;
    slots_shape_ = slots;
  }
  std::unique_ptr<PlanNetwork> made;
  if (slots_) {
    made = std::make_unique<PlanNetwork>(slots_->network(options, shape.first_stage_first));
    share_cells(*made, std::vector<Strategy>(made->stages.size(), strategy));
  }
  return placements_.emplace(key, std::move(made)).first->second.get();
}

std::shared_ptr<const PlanNetwork> CostBook::network(std::span<const Stage> stages,
                                                     const NetworkOptions& options) {
  constexpr std::size_t kMostListed = 256;
  std::size_t hash = static_cast<std::size_t>(options.zero_shards);
  for (const Stage& stage : stages) {
    for (const Cell& cell : stage.devices) {
      for (const DeviceId id : cell) mix_hash(hash, id.index());
    }
  }
  const auto known = listed_.find(hash);
  const auto same = [&](const Listed& l) {
    if (l.cells.size() != stages.size() || !(l.options == options)) return false;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (!(l.strategies[i] == stages[i].strategy) || l.cells[i] != stages[i].devices) return false;
    }
    return true;
  };
  if (known != listed_.end() && same(known->second)) return known->second.network;
  if (listed_.size() >= kMostListed) listed_.clear();
  Listed made;
  made.options = options;
  for (const Stage& stage : stages) {
    made.strategies.push_back(stage.strategy);
    made.cells.push_back(stage.devices);
  }
  auto network = std::make_shared<PlanNetwork>(
      plan_network(inputs_->cluster, constants_, made.strategies, made.cells, options));
  share_cells(*network, made.strategies);
  made.network = network;
  listed_.insert_or_assign(hash, std::move(made));
  return network;
}

const LayerTable& CostBook::table(const Training& training, const Strategy& strategy,
                                  const LayerPolicy& policy, const StageNetwork& network) {
  // Gradients of a micro-batch are added up in their dtype; Muon asks for matrices.
  const std::size_t muon = training.optimizer == Optimizer::muon ? 1 : 0;
  const std::size_t kind = (number_of(training) * kStateNumbers + training.states.number()) * 2 + muon;
  const TableKey key{training.micro_batch, training.sequence, kind, training.precision, policy,
                     network.cell.get()};
  const auto known = tables_.find(key);
  if (known != tables_.end()) return *known->second;
  auto made = std::make_unique<LayerTable>(make_table(training, strategy, policy, *network.cell));
  return *tables_.emplace(key, std::move(made)).first->second;
}

LayerTable CostBook::make_table(const Training& training, const Strategy& strategy, const LayerPolicy& policy,
                                const CellNetwork& network) {
  const BuiltModel& built = model(training);
  if (const LayerProfile* profile = inputs_->profile())
    return profile_table(*profile, training, strategy, policy, built.graph);
  std::vector<LayerTerms> by_type;
  for (const LayerCompute& compute : computes(training, strategy, policy))
    by_type.push_back(pricer_.terms(compute, network, training.states));
  if (training.optimizer == Optimizer::muon) {
    const std::vector<ShardedLayer>& types = sharded(training, strategy);
    for (std::size_t type = 0; type < types.size(); ++type) pricer_.add_matrices(types[type], by_type[type]);
  }
  std::vector<LayerTerms> layers;
  for (const Layer& layer : built.model->layers) layers.push_back(by_type[layer.type]);
  return LayerTable(std::move(layers));
}

LayerTable CostBook::profile_table(const LayerProfile& profile, const Training& training,
                                   const Strategy& strategy, const LayerPolicy& policy,
                                   const LayerGraph& graph) {
  const ProfileStrategy& own = *find_strategy(profile, strategy);
  std::vector<Bytes> incoming(graph.layers());
  for (const Edge& edge : own.edges) incoming[edge.to.index()] += boundary_bytes(edge.bytes, strategy);
  std::vector<LayerTerms> layers;
  layers.reserve(own.layers.size());
  for (std::size_t i = 0; i < own.layers.size(); ++i)
    layers.push_back(pricer_.terms(own.layers[i], profile, policy.policy == RecomputePolicy::full,
                                   incoming[i], training.states));
  return LayerTable(std::move(layers));
}

}  // namespace nest::price
