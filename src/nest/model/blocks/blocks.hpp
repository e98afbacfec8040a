// The parts that transformer layers are made of: attention, feed-forward, experts, and the block that joins
// them.
#pragma once

#include <optional>
#include <string>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::model {

// Attention with its projections, from normed hidden states to the output projection's result. With `source`,
// keys and values come from there (cross-attention).
TensorIndex add_attention(LayerBuilder& b, const std::string& prefix, TensorIndex x,
                          const AttentionSpec& spec, std::optional<TensorIndex> source = std::nullopt);

TensorIndex add_feed_forward(LayerBuilder& b, const std::string& prefix, TensorIndex x,
                             const FeedForwardSpec& spec);

// Router, dispatch, routed experts, combine, and the shared experts beside them. The router reads x, or `routed_by`.
TensorIndex add_experts(LayerBuilder& b, TensorIndex x, const ExpertsSpec& spec, Activation activation,
                        std::optional<TensorIndex> routed_by = std::nullopt);

// A whole block on top of hidden states x; `memory` is the encoder's output where the block has
// cross-attention.
TensorIndex add_block(LayerBuilder& b, TensorIndex x, const BlockSpec& spec,
                      std::optional<TensorIndex> memory = std::nullopt);

}  // namespace nest::model
