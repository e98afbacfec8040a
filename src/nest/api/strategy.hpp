// The public interface of sub-graph strategies: what a project of its own needs to add one to the table that searches
// and prices go by. examples/custom_strategy does.
#pragma once

#include "nest/strategies/registry.hpp"           // IWYU pragma: export
#include "nest/strategies/sharded_layer.hpp"      // IWYU pragma: export
#include "nest/strategies/subgraph_strategy.hpp"  // IWYU pragma: export
#include "nest/strategies/tensor.hpp"             // IWYU pragma: export

namespace nest {

using model::Axis;
using model::CollectiveCall;
using model::CollectiveKind;
using model::Dim;
using model::LayerType;
using model::Model;
using model::name_of;
using model::Operator;
using model::OperatorKind;
using model::Shape;
using model::spell;
using model::Tensor;
using model::TensorIndex;
using strategies::check_strategy;
using strategies::group_size;
using strategies::is_tensor_axis;
using strategies::LayerTransform;
using strategies::made_by;
using strategies::name_of;
using strategies::Refusal;
using strategies::shard_layer;
using strategies::ShardedLayer;
using strategies::spell;
using strategies::Strategy;
using strategies::subgraph_strategies;
using strategies::SubgraphStrategy;
using strategies::tensor_strategy;

}  // namespace nest
