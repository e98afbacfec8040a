// The recomputation of a stage, in the forms that plans may write it:
//
//   "full"
//   {"policy": "full", "layers": 2}
//   {"policy": "modules", "modules": ["mla_up_proj", "moe_act"]}
//   "modules:mla_up_proj+moe_act"                                  as after --recompute
#pragma once

#include "nest/base/document/reader.hpp"
#include "nest/strategies/recompute.hpp"

namespace nest::plan {

// Of the key "recompute"; `fallback` where it is missing.
[[nodiscard]] Recompute read_recompute(Reader& r, const Recompute& fallback, Warnings& warnings);

}  // namespace nest::plan
