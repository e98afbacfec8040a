// A plan's adapters as torchtitan's main branch puts them in: a converter of the model's configuration that stands an
// adapter beside each linear module of some names and freezes everything else. Release 0.2.2 has none.
//
//   titan_adapters(tuning, spec).modules == {"wqkv", "wo"}
#pragma once

#include <string>
#include <vector>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/tuning.hpp"

namespace nest::frameworks {

struct TitanAdapters {
  std::string problem;  // a sentence, where these are not the plan's; empty: all is well
  std::vector<std::string> modules;
  std::vector<std::string> lost;  // what differs all the same, as notes have it
};

[[nodiscard]] TitanAdapters titan_adapters(const Tuning& tuning, const ModelSpec& spec);

}  // namespace nest::frameworks
