// What exports say of a model that is trained in part. Which targets have words for it is a column of the table of
// targets; a plan that a target cannot say is refused, because its memory and time would be those of another training.
//
//   tuning_refusal(plan.training.tuning, TuningWords::none, "Megatron-LM")
//       -> "the export to Megatron-LM is of training all of a model, not of 'lora:16'"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/model/tuning.hpp"

namespace nest::frameworks {

enum class TuningWords {
  none,
  peft,  // adapters as Hugging Face's PEFT has them, in adapter_config.json
  core,  // adapters beside the modules of Megatron-core
  any,   // the target starts any program, which trains what it wants to
};

[[nodiscard]] std::optional<std::string> tuning_refusal(const Tuning& tuning, TuningWords words,
                                                        std::string_view title);

// PEFT's LoraConfig; targets in its names, which are those of Hugging Face's modules.
[[nodiscard]] Value peft_config(const Tuning& tuning);
// What is left to whoever uses it, a sentence each without a full stop; nothing where all is trained.
[[nodiscard]] std::vector<std::string> peft_remarks(const Tuning& tuning);

}  // namespace nest::frameworks
