// The one way from a model to what its layers cost: how a recipe builds layers, cuts them, runs their
// kernels, repeats them and lets their collectives hide, on the devices of a cluster. `estimate`, the price
// of plans, Alpa's baseline and the traffic of reports all ask here, so that none of them can tell another
// story.
//
//   LayerPricer pricer(recipe, cluster);
//   const Model model = build_model(spec, pricer.build_options(1, 4096));
//   const CellNetwork network(cluster, pricer.constants(), strategy);
//   pricer.price(model, strategy, RecomputePolicy::none, Precision::bf16, network)[type].terms
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/estimate/layers/layer_compute.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/recipe/states.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::price {

// What one layer costs one device of a cell.
struct LayerPrice {
  LayerFigures figures;  // as the kernels take it, before the recipe's own factors
  LayerTerms terms;      // what a stage adds up: unhidden collectives, accumulation, the recipe's factors
};

class LayerPricer {
 public:
  // All outlive this. Every kernel takes `compute_time` times as long as estimated, besides the recipe's own
  // factor.
  LayerPricer(const Recipe& recipe, const Cluster& cluster,
              std::span<const SubgraphStrategy> strategies = subgraph_strategies(), double compute_time = 1);

  // What links reach: a library's constants, or the ideal ones where the recipe asks for them.
  [[nodiscard]] FabricConstants constants() const;

  // How the recipe's software makes layers. No sequence: the model's own.
  [[nodiscard]] BuildOptions build_options(std::int64_t micro_batch,
                                           std::optional<std::int64_t> sequence) const;
  // The model's layer types as one device of the cell sees them.
  [[nodiscard]] std::vector<ShardedLayer> sharded(const Model& model, const Strategy& strategy) const;

  // Kernel times are found once and shared.
  [[nodiscard]] OperatorTimes times(Precision precision);
  // One operator, with the recipe's factor.
  [[nodiscard]] OperatorTime time(const LayerType& layer, const Operator& op, Precision precision);

  [[nodiscard]] std::vector<LayerCompute> computes(std::span<const ShardedLayer> layers,
                                                   const LayerPolicy& policy, Precision precision);
  [[nodiscard]] LayerTerms terms(const LayerCompute& compute, const CellNetwork& network,
                                 const States& states = {}) const;
  // What Muon makes of a layer, on top of its terms.
  void add_matrices(const ShardedLayer& sharded, LayerTerms& terms);
  // Of a layer profile, whose times are whole.
  [[nodiscard]] LayerTerms terms(const ProfileLayer& layer, const LayerProfile& profile, bool full,
                                 Bytes incoming, const States& states = {}) const;

  // All of the above, by layer type.
  [[nodiscard]] std::vector<LayerPrice> price(const Model& model, const Strategy& strategy,
                                              const LayerPolicy& policy, Precision precision,
                                              const CellNetwork& network);

 private:
  [[nodiscard]] LayerTerms scaled(LayerTerms terms) const;

  const Recipe* recipe_;
  const Cluster* cluster_;
  std::span<const SubgraphStrategy> strategies_;
  double kernel_time_;
  std::shared_ptr<const KernelTimes> kernels_;
};

}  // namespace nest::price
