// The sizes by which a registry's model is found, whatever it is called here: two models of one shape have
// layers that are equally large.
//
//   model_shape(&spec)->layers == 80, ->kv_heads == 8
#pragma once

#include <cstdint>
#include <optional>

#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

struct ModelShape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;  // of the first layer; 0: it has experts
  std::int64_t vocab = 0;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t expert_ffn = 0;
  std::int64_t query_rank = 0;      // of latent attention
  std::int64_t key_value_rank = 0;  // 0: no latent attention
  bool tied = false;

  bool operator==(const ModelShape&) const = default;
};

// None for a null spec, and for models of several stacks.
[[nodiscard]] std::optional<ModelShape> model_shape(const ModelSpec* spec);

}  // namespace nest::frameworks
