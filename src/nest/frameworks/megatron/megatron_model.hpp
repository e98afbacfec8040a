// A model's shape as flags of Megatron-LM's pretrain_gpt.py.
#pragma once

#include <string>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {

struct ModelFlagOptions {
  const Release* release = nullptr;  // none: the usual one
  bool ring = false;                 // context parallelism by ring attention
};

// Of a model with one stack of blocks. What the flags cannot say is added to `lost`, a sentence each.
[[nodiscard]] FlagSection megatron_model_flags(const ModelSpec& spec, const ModelFlagOptions& options,
                                               std::vector<std::string>& lost);

// "([0]*3+[1]*58)": which blocks have experts; empty where all or none have.
[[nodiscard]] std::string expert_pattern(const StackSpec& stack);

}  // namespace nest::frameworks
