// What plans of one model, cluster and recipe have in common, kept once it was asked for: built models, cell
// networks, tables of layer costs, and the networks of placements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "nest/estimate/layers/layer_cost.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/layer_graph.hpp"
#include "nest/price/layers/layer_pricer.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/price/network/plan_network.hpp"
#include "nest/price/network/slot_network.hpp"

namespace nest::price {

// A model at one micro-batch size and sequence length.
struct BuiltModel {
  std::optional<Model> model;  // none for a layer profile
  LayerGraph graph;
  Flops forward_flops;  // of one micro-batch
  Flops saved_flops;    // of its backward pass, where not everything is trained
};

class CostBook {
 public:
  // `inputs` outlive this. Every kernel takes `compute_time` times as long as estimated.
  explicit CostBook(const PlanInputs& inputs, double compute_time = 1);

  CostBook(const CostBook&) = delete;
  CostBook& operator=(const CostBook&) = delete;

  // Lets go of everything where it has become much. What was returned before is then gone.
  void trim();
  // Changes with every trim that lets go of something.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  [[nodiscard]] const CollectiveModel& collectives() const { return collectives_; }

  // Of a training's sequences and of what is trained.
  [[nodiscard]] const BuiltModel& model(std::int64_t micro_batch, const Training& training);
  [[nodiscard]] const BuiltModel& model(const Training& training) {
    return model(training.micro_batch, training);
  }

  // Standard deviation of what one micro-batch takes, forward and backward, where its documents' lengths differ: of
  // all layers, on a device of its cell (docs/lengths.md).
  [[nodiscard]] Seconds spread(const Training& training, const Strategy& strategy);

  // Why a strategy cannot cut this model; empty where it can.
  [[nodiscard]] const std::string& refusal(const Training& training, const Strategy& strategy);

  // The network of a placement, by the rule (none where it does not fit) or of the cells as they stand.
  [[nodiscard]] const PlanNetwork* network(const Strategy& strategy, const PlacementShape& shape,
                                           const NetworkOptions& options);
  [[nodiscard]] std::shared_ptr<const PlanNetwork> network(std::span<const Stage> stages,
                                                           const NetworkOptions& options);

  // Layer types on one device, wherever it lies; none for a layer profile.
  [[nodiscard]] const std::vector<ShardedLayer>& sharded(const Training& training, const Strategy& strategy) {
    return sharded(computes(training, strategy), training, strategy);
  }
  [[nodiscard]] const std::vector<LayerCompute>& computes(const Training& training, const Strategy& strategy,
                                                          const LayerPolicy& policy);

  [[nodiscard]] const LayerTable& table(const Training& training, const Strategy& strategy,
                                        const LayerPolicy& policy, const StageNetwork& network);

 private:
  struct ModelKey {
    std::int64_t micro_batch;
    std::int64_t sequence;
    std::size_t kind;  // of kinds_
    auto operator<=>(const ModelKey&) const = default;
  };
  struct StrategyKey {
    ModelKey model;
    Precision precision;
    std::array<std::int64_t, 7> degrees;
    auto operator<=>(const StrategyKey&) const = default;
  };
  struct Computes {
    std::string refusal;
    std::map<LayerPolicy, std::vector<LayerCompute>> by_policy;  // by layer type
    std::vector<ShardedLayer> sharded;                           // once it is asked for
    std::optional<Seconds> spread;                               // likewise
  };
  const std::vector<ShardedLayer>& sharded(Computes& all, const Training& training, const Strategy& strategy);
  using TableKey =
      std::tuple<std::int64_t, std::int64_t, std::size_t, Precision, LayerPolicy, const CellNetwork*>;
  struct PlacementKey {
    std::array<std::int64_t, 7> degrees;
    PlacementShape shape;
    std::int64_t zero_shards;
    bool wrap;
    std::size_t tied_first;
    std::size_t tied_last;
    std::int64_t near;
    bool operator==(const PlacementKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const PlacementKey& key) const;
    std::size_t operator()(const TableKey& key) const;
  };

  // Of kinds_: 0 for the usual one, and one number for equal ones.
  [[nodiscard]] std::size_t number_of(const Training& training);
  [[nodiscard]] ModelKey key_of(const Training& training) {
    return {training.micro_batch, training.sequence, number_of(training)};
  }
  Computes& computes(const Training& training, const Strategy& strategy);
  void share_cells(PlanNetwork& network, std::span<const Strategy> strategies);
  LayerTable make_table(const Training& training, const Strategy& strategy, const LayerPolicy& policy,
                        const CellNetwork& network);
  LayerTable profile_table(const LayerProfile& profile, const Training& training, const Strategy& strategy,
                           const LayerPolicy& policy, const LayerGraph& graph);

  // A placement by ids, which plans of one study often share.
  struct Listed {
    std::vector<Strategy> strategies;
    std::vector<std::vector<Cell>> cells;
    NetworkOptions options;
    std::shared_ptr<const PlanNetwork> network;
  };

  const PlanInputs* inputs_;
  LayerPricer pricer_;
  std::uint64_t generation_ = 0;
  FabricConstants constants_;
  CollectiveModel collectives_;
  // What documents, images, tuning and prediction modules were asked for, the usual first.
  struct Kind {
    Contents contents;
    Tuning tuning;
    bool mtp = false;
    bool operator==(const Kind&) const = default;
  };
  std::vector<Kind> kinds_{Kind{}};
  std::map<ModelKey, BuiltModel> models_;
  std::map<StrategyKey, Computes> computes_;
  // Different cell networks, so that placements that look alike to a cell share their tables.
  std::vector<std::pair<Strategy, std::shared_ptr<const CellNetwork>>> cells_;
  std::unordered_map<PlacementKey, std::unique_ptr<PlanNetwork>, Hash> placements_;
  // The latest placement by the rule.
  std::unique_ptr<SlotNetwork> slots_;
  Strategy slots_strategy_;
  PlacementShape slots_shape_;
  std::unordered_map<std::size_t, Listed> listed_;  // by a hash of the ids
  std::unordered_map<TableKey, std::unique_ptr<LayerTable>, Hash> tables_;
};

}  // namespace nest::price
