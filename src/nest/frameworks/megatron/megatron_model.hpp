// A model's shape as flags of Megatron-LM's pretrain_gpt.py.
#pragma once

#include <string>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// Of a model with one stack of blocks. What the flags cannot say is added to `lost`, a sentence each.
[[nodiscard]] FlagSection megatron_model_flags(const ModelSpec& spec, std::vector<std::string>& lost);

// "([0]*3+[1]*58)": which blocks have experts; empty where all or none have.
[[nodiscard]] std::string expert_pattern(const StackSpec& stack);

}  // namespace nest::frameworks
