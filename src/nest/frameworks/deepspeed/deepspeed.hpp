// The export target "deepspeed": DeepSpeed's JSON, its launcher's host file, and what Python arguments must
// say.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nest/frameworks/common/export_rule.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ExportRule> deepspeed_rules();
[[nodiscard]] ExportResult export_deepspeed(const ExportQuestion& question, const ExportSink& sink);

// ds_config.json, which other frameworks that run DeepSpeed take too.
[[nodiscard]] Value deepspeed_config(const ExportFacts& facts);

// The partition_method of PipelineModule that gives these stages, and whether it gives just these: "uniform"
// (equal numbers of layers) or "type:block" (equal numbers of blocks).
struct PartitionMethod {
  std::string name;
  bool exact = false;
};
[[nodiscard]] PartitionMethod partition_method(const ExportFacts& facts);

}  // namespace nest::frameworks
