// Megatron-LM's --pipeline-model-parallel-layout: E embedding, t block, m multi-token prediction, L loss; |
// ends a part, x*n and (..)*n repeat, commas mean nothing. Part i belongs to pipeline rank i % PP.
//
//   Et*3|(tt|)*29,m|L     DeepSeek-V3 on 16 ranks with 2 chunks each
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/export_facts.hpp"

namespace nest::frameworks {

struct LayoutPart {
  std::int64_t blocks = 0;
  std::int64_t mtp = 0;
  bool embedding = false;
  bool loss = false;

  bool operator==(const LayoutPart&) const = default;
};

[[nodiscard]] std::string layout_text(std::span<const PipelinePart> parts);

// Throws an InputError for other letters, open brackets, and an embedding or a loss that is missing, repeated
// or not at its end.
[[nodiscard]] std::vector<LayoutPart> read_layout(std::string_view text);

}  // namespace nest::frameworks
