// A layer's operators as Alpa's intra-operator problem: the specs that each allows on the tensor axis of a
// mesh of (copies x tensor) devices, with what the estimator says of its shard.
//
//   products                replicated, row, column, contract
//   attention               replicated, row (where the batch divides), feature (by heads)
//   embedding               replicated, row, contract (by vocabulary)
//   norms, element-wise     replicated, row, feature where no sum runs over the split features
//   routing of experts      replicated, row
//
// A plan of ours has one tensor degree for all, so that for a plan the products of dense weights take column
// or contract, and those of experts row (expert tensor 1) or column and contract.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/layers/layer_pricer.hpp"
#include "nest/solve/baselines/alpa/alpa_mesh.hpp"
#include "nest/solve/baselines/alpa/alpa_sharding.hpp"

namespace nest::solve::alpa {

struct LayerSplit {
  Strategy strategy;
  std::int64_t copies = 1;
  std::int64_t micro_batches = 1;  // gradients are summed once for so many
  bool again = false;              // the forward pass runs twice
  bool any_spec = false;           // also such as no plan of ours can say
};

// Gradients of so many parameters of one device, summed once a step over the ranks that hold the same.
[[nodiscard]] Seconds dense_gradients(double parameters, const TwoLevelMesh& mesh, const LayerSplit& split,
                                      const Recipe& recipe, bool over_tensor = false);
[[nodiscard]] Seconds expert_gradients(double parameters, const TwoLevelMesh& mesh, const LayerSplit& split,
                                       const Recipe& recipe);

class LayerSharder {
 public:
  // All outlive this, and so do the layers.
  LayerSharder(const PlanInputs& inputs, const TwoLevelMesh& mesh, Precision precision);

  // `feeds`: other layers use what it makes.
  [[nodiscard]] ShardProblem problem(const LayerType& layer, bool feeds, const LayerSplit& split);

 private:
  // One operator on one device, whatever the copies.
  struct Shard {
    Spec spec = Spec::replicated;
    Seconds forward;
    Seconds backward;
    double dense_parameters = 0;
    double expert_parameters = 0;
  };
  using Shards = std::vector<std::vector<Shard>>;  // by operator

  const Shards& shards(const LayerType& layer, const Strategy& strategy);
  [[nodiscard]] Way way(const Operator& op, const Shard& shard, const LayerType& layer,
                        const LayerSplit& split) const;

  const PlanInputs* inputs_;
  const TwoLevelMesh* mesh_;
  Precision precision_;
  LayerPricer pricer_;
  std::map<std::tuple<const LayerType*, std::int64_t, std::int64_t, std::int64_t>, Shards> shards_;
};

}  // namespace nest::solve::alpa
