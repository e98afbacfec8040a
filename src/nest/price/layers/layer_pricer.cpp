#include "nest/price/layers/layer_pricer.hpp"

#include "nest/estimate/collectives/fabric.hpp"
#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/estimate/layers/layer_cost.hpp"
#include "nest/price/layers/matrix_terms.hpp"

namespace nest::price {

LayerPricer::LayerPricer(const Recipe& recipe, const Cluster& cluster,
                         std::span<const SubgraphStrategy> strategies, double compute_time)
    : recipe_(&recipe),
      cluster_(&cluster),
      strategies_(strategies),
      kernel_time_(compute_time * recipe.kernel_time) {}

FabricConstants LayerPricer::constants() const {
  return fabric_constants(*cluster_, *recipe_);
}

BuildOptions LayerPricer::build_options(std::int64_t micro_batch,
                                        std::optional<std::int64_t> sequence) const {
  return {.micro_batch = micro_batch,
          .sequence = sequence,
          .fused = recipe_->compiled || recipe_->fused_passes,
          .flash = recipe_->flash_attention,
          .dropout = recipe_->dropout,
          .fused_loss = recipe_->fused_loss,
          .plain_norms = recipe_->plain_norms && !recipe_->compiled};
}

std::vector<ShardedLayer> LayerPricer::sharded(const Model& model, const Strategy& strategy) const {
  return shard_types(model, strategy,
                     {.expert_imbalance = recipe_->expert_imbalance,
                      .capacity_factor = recipe_->capacity_factor,
                      .low_dispatch = recipe_->low_dispatch,
                      .split_documents = recipe_->split_documents,
                      .ring_skips = recipe_->ring_skips},
                     strategies_);
}

OperatorTimes LayerPricer::times(Precision precision) {
  if (!kernels_) kernels_ = shared_kernel_times(cluster_->accelerator());
  return {kernels_,
          {.fused_projections = recipe_->fused_projections,
           .fused_passes = recipe_->fused_passes,
           .plain_norms = recipe_->plain_norms,
           .compiled = recipe_->compiled,
           .precision = precision,
           .cast_each_use = recipe_->low_casts == LowCasts::every_use,
           .low_gathers = recipe_->low_gathers,
           .grouped_share = grouped_share(kernels_->rates(), precision),
           .graphs = recipe_->cuda_graphs,
           .host_time = recipe_->host_time,
           .attention_time = flash_time(recipe_->flash_generation, cluster_->accelerator()),
           .masked_time = recipe_->masked_windows ? kMaskedAttention : 0,
           .ring_merges_steps = recipe_->ring_merges_steps}};
}

OperatorTime LayerPricer::time(const LayerType& layer, const Operator& op, Precision precision) {
  OperatorTime t = times(precision).time(layer, op);
  t.forward = kernel_time_ * t.forward;
  t.backward_input = kernel_time_ * t.backward_input;
  t.backward_weight = kernel_time_ * t.backward_weight;
  return t;
}

std::vector<LayerCompute> LayerPricer::computes(std::span<const ShardedLayer> layers,
                                                const LayerPolicy& policy, Precision precision) {
  const OperatorTimes own = times(precision);
  std::vector<LayerCompute> out;
  out.reserve(layers.size());
  for (const ShardedLayer& layer : layers)
    out.push_back(layer_compute(layer, policy, own, Selective(*recipe_)));
  return out;
}

LayerTerms LayerPricer::scaled(LayerTerms terms) const {
  for (const Term term : {Term::forward, Term::backward_input, Term::backward_weight, Term::recompute})
    terms.of(term) *= kernel_time_;
  return terms;
}

LayerTerms LayerPricer::terms(const LayerCompute& compute, const CellNetwork& network,
                              const States& states) const {
  const LayerCost cost = layer_cost(compute, network);
  const Accelerator& chip = cluster_->accelerator();
  LayerTerms terms = scaled(states.any() ? layer_terms(cost, with_states(*recipe_, states), chip)
                                         : layer_terms(cost, *recipe_, chip));
  if (states.offload.activations) offload_activations(chip.host(), terms);
  return terms;
}

void LayerPricer::add_matrices(const ShardedLayer& sharded, LayerTerms& terms) {
  if (!kernels_) kernels_ = shared_kernel_times(cluster_->accelerator());
  add_matrix_terms(sharded, *kernels_, kernel_time_, terms);
}

LayerTerms LayerPricer::terms(const ProfileLayer& layer, const LayerProfile& profile, bool full,
                              Bytes incoming, const States& states) const {
  LayerTerms terms = scaled(layer_terms(layer, profile, full, incoming));
  if (states.offload.activations) offload_activations(cluster_->accelerator().host(), terms);
  return terms;
}

std::vector<LayerPrice> LayerPricer::price(const Model& model, const Strategy& strategy,
                                           const LayerPolicy& policy, Precision precision,
                                           const CellNetwork& network) {
  std::vector<LayerPrice> out;
  for (const LayerCompute& compute : computes(sharded(model, strategy), policy, precision))
    out.push_back({compute, terms(compute, network)});
  return out;
}

}  // namespace nest::price
