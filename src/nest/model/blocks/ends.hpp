// The layers at the ends of a model: embeddings and other stems, heads with their losses, and DeepSeek's
// multi-token prediction modules, which carry an embedding of their own.
#pragma once

#include <vector>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/layer.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::model {

// `shared_table`: the token table is trained by another stack's stem. `among`: what towers put among the tokens.
[[nodiscard]] LayerType stem_layer(const StackSpec& stack, const Shape& tokens, bool shared_table,
                                   const std::vector<Shape>& among = {});

// What stands between a tower's last block and the tokens.
[[nodiscard]] LayerType exit_layer(const StackSpec& stack, const Shape& hidden, LayerStyle style);

// One input for each layer that the head reads: one, or two towers, or the trunk and the prediction modules.
[[nodiscard]] LayerType head_layer(const ModelSpec& spec, const std::vector<Shape>& inputs,
                                   bool fused_loss = false);

// One multi-token prediction module: norms, the joining projection, one block, which is like the last one where the
// spec has no other, and a norm.
[[nodiscard]] LayerType mtp_layer(const ModelSpec& spec, const Shape& tokens, LayerStyle style = {});

}  // namespace nest::model
