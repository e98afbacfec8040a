// Adapters of low rank (LoRA, Hu et al. 2021) as operators of a layer: beside a product x W stand x A B with A of
// [in, rank] and B of [rank, out], a pass that scales their result, and an addition. Names of targets are those of
// Megatron (linear_qkv) and of Hugging Face (q_proj), or an operator's own.
//
//   add_adapters(layer, 16, {"q_proj", "v_proj"}, found)   -> qkv.q.lora_a, qkv.q.lora_b, qkv.q.lora_scale, qkv.q.lora_add, ..
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nest/model/graph/layer.hpp"

namespace nest::model {

// Puts adapters beside the products that targets name, and the targets that the layer has into `found`.
void add_adapters(LayerType& layer, std::int64_t rank, const std::vector<std::string>& targets,
                  std::set<std::string>& found);

// All names that may be targets, those of operators apart.
[[nodiscard]] std::vector<std::string> target_names();

}  // namespace nest::model
