// Adapters of low rank (LoRA, Hu et al. 2021) as operators of a layer: beside a product x W stand x A B with A of
// [in, rank] and B of [rank, out], a pass that scales their result, and an addition. Names of targets are those of
// Megatron (linear_qkv) and of Hugging Face (q_proj), or an operator's own.
//
//   add_adapters(layer, 16, {"q_proj", "v_proj"}, found)   -> qkv.q.lora_a, qkv.q.lora_b, qkv.q.lora_scale, qkv.q.lora_add, ..
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nest/model/graph/layer.hpp"

namespace nest::model {

// What targets name in the layers that have been looked at.
struct FoundTargets {
  std::set<std::string> found;
  struct Twice {
    std::string first;
    std::string second;
    std::string product;
  };
  std::optional<Twice> twice;  // two targets that name one product
};

// Puts adapters beside the products that targets name, and what was found into `found`.
void add_adapters(LayerType& layer, std::int64_t rank, const std::vector<std::string>& targets,
                  FoundTargets& found);

// The names of targets that the layer has, those of operators apart.
[[nodiscard]] std::vector<std::string> targets_of(const LayerType& layer);

}  // namespace nest::model
