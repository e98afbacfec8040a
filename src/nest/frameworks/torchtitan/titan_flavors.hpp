// Models that torchtitan's registry holds, found by their shape: whatever a model is called here, it is the
// flavor whose layers are as large. The table is of v0.2.2 (2026-02-20) and main (b5bcd76c6, 2026-08-21).
//
//   find_flavor(spec, "main")->module == "qwen3", ->flavor == "4B", ->config.empty()
#pragma once

#include <span>
#include <string_view>

#include "nest/frameworks/common/model_shape.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

struct TitanFlavor {
  std::string_view module;
  std::string_view flavor;
  std::string_view config;  // main's function for it; empty: the registry has the model, and no function
  std::string_view since;   // the first release that has it; empty: all
  ModelShape shape;
  std::string_view like;  // our model of the same sizes
};

[[nodiscard]] std::span<const TitanFlavor> titan_flavors();
// None where the release has no model of this shape; a null spec has none.
[[nodiscard]] const TitanFlavor* find_flavor(const ModelSpec* spec, std::string_view release);
// The model of the registry, as far as its details go.
[[nodiscard]] ModelSpec titan_model(const TitanFlavor& flavor);
// A function of main's registry for another flavor of the same module, to begin a configuration with.
[[nodiscard]] std::string_view config_beside(const TitanFlavor& flavor);

}  // namespace nest::frameworks
