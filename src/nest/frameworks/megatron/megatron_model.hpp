// A model as flags of Megatron-LM's pretrain_gpt.py: sizes, and the details of megatron_details.hpp.
#pragma once

#include <string>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/megatron/megatron_details.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// One stack of blocks with attention and a feed-forward each, or delta rules in place of attention: pretrain_gpt.py
// has no other blocks.
[[nodiscard]] bool megatron_describes(const ModelSpec& spec);

// Of such a model. What the flags cannot say is added to `lost`, a sentence each.
[[nodiscard]] FlagSection megatron_model_flags(const ModelSpec& spec, const ModelFlagOptions& options,
                                               std::vector<std::string>& lost);

// "([0]*3+[1]*58)": which blocks have experts; empty where all or none have.
[[nodiscard]] std::string expert_pattern(const StackSpec& stack);

}  // namespace nest::frameworks
