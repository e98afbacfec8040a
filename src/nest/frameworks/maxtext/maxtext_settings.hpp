// A plan as MaxText's settings: maxtext.yml, which adds to its base.yml.
//
//   maxtext_settings(facts, mesh)  -> {"base_config": "base.yml", "model_name": "llama2-70b", ..}
#pragma once

#include <cstdint>
#include <string_view>

#include "nest/frameworks/maxtext/maxtext_mesh.hpp"

namespace nest::frameworks {

// The remat_policy that keeps what the plan's recomputation keeps. MaxText's "none" keeps nothing, as "full" does.
[[nodiscard]] std::string_view remat_policy(const LayerPolicy& policy);
// Layers of a stage, and those that no stage has because they do not divide.
struct MaxTextStages {
  std::int64_t layers = 0;
  std::int64_t left_over = 0;
};
[[nodiscard]] MaxTextStages maxtext_stages(const ExportFacts& facts);

[[nodiscard]] Value maxtext_settings(const ExportFacts& facts, const MaxTextMesh& mesh);

}  // namespace nest::frameworks
