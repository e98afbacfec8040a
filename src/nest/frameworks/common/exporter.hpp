// What all export targets have in common: a plan becomes files that make somebody else's program run it.
// Every hard rule of the target is checked before the first file is handed over; what the target cannot
// express is refused with the rule's name, or listed as lost where the plan still runs without it. A target
// is one folder of files and one row in exporters.cpp.
//
//   const ExportResult done = find_exporter("megatron")->write(question, sink);
//   done.rule.empty(), done.lost[0] == "multi-token prediction modules are not part of the plan"
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {

struct ExportQuestion {
  Plan plan;  // complete, placed, priced
  PlanInputs inputs;
  // Names of all hosts, or of those that the plan uses, in device order; empty: node000, node001, ..
  std::vector<std::string> hosts;
  // A host is a domain of the innermost level, or, where domains span hosts, so many devices of one.
  std::int64_t devices_per_host = 0;
  const Release* release = nullptr;  // of the target's table; none: nobody named one
};

struct ExportFile {
  std::string name;  // relative to the folder of the export
  std::string bytes;
  bool executable = false;
};

// Takes one file after the other; large exports are never held whole.
using ExportSink = std::function<void(const ExportFile&)>;

struct ExportResult {
  std::string rule;                      // the name of the rule that is broken; empty: all is well
  std::string sentence;                  // of the broken rule, with the plan's figures
  std::vector<std::string> lost;         // "lost in translation", a sentence each without a full stop
  std::vector<std::string> next;         // what to do with the files: commands
  std::vector<const Release*> releases;  // that the files are for, oldest first
};

struct Exporter {
  std::string_view name;   // "megatron"
  std::string_view title;  // "Megatron-LM"
  std::string_view text;   // what it writes
  ExportResult (*run)(const ExportQuestion& question, const ExportSink& sink);
  TuningWords tuning = TuningWords::none;  // for plans that train a part of the model

  // Writes nothing where a rule is broken.
  [[nodiscard]] ExportResult write(const ExportQuestion& question, const ExportSink& sink) const;

  // Where the framework has releases.
  [[nodiscard]] const ReleaseTable* releases() const { return find_releases(name); }
};

}  // namespace nest::frameworks
