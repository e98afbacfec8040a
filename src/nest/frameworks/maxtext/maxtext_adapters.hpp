// A plan's adapters as MaxText's fine-tuning has them: Qwix stands one beside each dense product whose path a pattern
// matches, and holds the weights of these products in few bits if it is told so. The trainer for pre-training has none.
//
//   maxtext_adapters(tuning, spec).settings   {"enable_lora": true, "lora_rank": 16, "lora_module_path": ..}
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/frameworks/common/export_facts.hpp"

namespace nest::frameworks {

struct MaxTextAdapters {
  std::string problem;  // a sentence, where these are not the plan's; empty: all is well
  Value settings;       // of the section "lora"
};

[[nodiscard]] MaxTextAdapters maxtext_adapters(const ExportFacts& facts);

}  // namespace nest::frameworks
