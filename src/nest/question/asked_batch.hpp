// The row of asked_fields() for the global batch, which may be one number or any of several.
//
//   --global-batch 512   --global-batch 480,512   --global-batch 480..512   --global-batch 512±5%
#pragma once

#include "nest/question/asked.hpp"

namespace nest::question {

inline constexpr std::int64_t kMostSequences = 1'000'000'000;

// Name, help and group as given; reads Asked::global_batch and Asked::batches.
[[nodiscard]] AskedField batch_field(AskedField row);

}  // namespace nest::question
