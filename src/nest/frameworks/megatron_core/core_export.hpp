// What exports to frameworks on Megatron-core have in common: Megatron-LM's rules, ranks, the plan in the
// framework's own words, and the files around them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/frameworks/common/exporter.hpp"
#include "nest/frameworks/common/rank_map.hpp"
#include "nest/frameworks/megatron_core/core_knobs.hpp"

namespace nest::frameworks {

struct CoreTarget {
  std::string_view name;  // "megatron-bridge"
  std::string_view core;  // the release of Megatron-core that it runs on
  CoreDialect dialect;
  std::string_view noun;      // "field in Megatron Bridge"
  bool whole_copies = false;  // whether it has Megatron-LM's other order of ranks
  // Whether the settings describe the model; none: never.
  bool (*describes_model)(const ExportFacts& facts) = nullptr;
};

struct CoreExport {
  ExportResult result;  // with a rule where the plan breaks one, and then nothing else
  ExportFacts facts;
  RankMap map;
  std::vector<Setting> settings;
};

// The question must outlive the answer.
[[nodiscard]] CoreExport begin_core_export(const ExportQuestion& question, const CoreTarget& target);

struct CoreScript {
  std::string name;  // "bridge.sh"
  std::string text;
  std::string job;  // of Slurm
};
// The script, those that start it, placement/ and NOTES.md.
void end_core_export(const ExportQuestion& question, const CoreExport& out, std::string_view title,
                     const CoreScript& script, const std::vector<std::string>& remarks,
                     const ExportSink& sink);

// "# Overrides of a plan by nest for verl v0.7; world size: 64", with a blank line after it.
[[nodiscard]] std::string core_header(const CoreExport& out, std::string_view what);

}  // namespace nest::frameworks
