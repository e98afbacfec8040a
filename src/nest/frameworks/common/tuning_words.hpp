// What exports say of a model that is trained in part. Which targets have words for it is a column of the table of
// targets; a plan that a target cannot say is refused, because its memory and time would be those of another training.
//
//   tuning_refusal(plan.training.tuning, TuningWords::none, "Megatron-LM")
//       -> "Megatron-LM has no adapters and no flag that freezes some layers, for 'lora:16'"
//
// Exporters that take adapters look at their targets themselves, because what a target is called depends on the model.
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
  adapters,  // beside products of all blocks, whose weights stay in 16 bits
  packed,    // the same, also with frozen weights in 4 and 8 bits
  core,      // adapters beside the modules of Megatron-core, by their names
  any,       // the target starts any program or prices the step, whatever is trained
};

[[nodiscard]] std::optional<std::string> tuning_refusal(const Tuning& tuning, TuningWords words,
                                                        std::string_view title);

inline constexpr std::string_view kAllLinear = "all-linear";
// The rule of plans whose trained part a target cannot say.
inline constexpr std::string_view kTrainedPart = "trained-part";

// PEFT's LoraConfig; targets in its names, which are those of Hugging Face's modules.
[[nodiscard]] Value peft_config(const Tuning& tuning);
// What is left to whoever uses it, a sentence each without a full stop; nothing where all is trained.
[[nodiscard]] std::vector<std::string> peft_remarks(const Tuning& tuning);

}  // namespace nest::frameworks
