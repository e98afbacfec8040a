// Rules of export targets: each target has a table of what it refuses, checked before the first file is
// written. The rules on degrees are the plan room's framework_rules; those that need a model's shape or the
// stages are here and in the targets' own tables.
//
//   first_broken(facts, "megatron", kRules)   -> {"heads", "Megatron-LM splits ...: 64 heads, tensor 6"}
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/export_facts.hpp"

namespace nest::frameworks {

struct ExportRule {
  std::string_view name;
  std::string_view sentence;  // without a full stop
  // The plan's figures where it breaks the rule.
  std::optional<std::string> (*broken)(const ExportFacts& facts);
};

struct BrokenRule {
  std::string name;
  std::string sentence;
};

// The rules of every framework that follow from its FrameworkRules and the stages.
[[nodiscard]] std::span<const ExportRule> stage_rules();

// Degrees first, then stages, then the target's own table.
[[nodiscard]] std::optional<BrokenRule> first_broken(const ExportFacts& facts, std::string_view framework,
                                                     std::span<const ExportRule> own);

// Shapes that all frameworks need: heads, query groups, ffn, experts, sequence.
[[nodiscard]] std::optional<std::string> heads_do_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> query_groups_do_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> ffn_does_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> experts_do_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> sequence_does_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> batch_does_not_split(const ExportFacts& facts);
[[nodiscard]] std::optional<std::string> world_does_not_split(const ExportFacts& facts);
// A pipeline of anything but an embedding, blocks and a head in a chain.
[[nodiscard]] std::optional<std::string> not_a_decoder(const ExportFacts& facts);

}  // namespace nest::frameworks
