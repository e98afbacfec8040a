// How a framework's users spell the settings of a run, as tables: what costs nothing to turn on, what can be
// changed alone, and the whole file of a plan. `nest lint` proposes changes in these words.
//
//   Knob{Turn::recompute, 0, "no --recompute-granularity"}
//   Knob{Turn::micro_batch, 0, "training.local_batch_size = {}"}
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/export_rule.hpp"
#include "nest/frameworks/common/flags.hpp"

namespace nest::frameworks {

// What hides traffic or saves time at no price; a part of the recipe's overlap, or a switch of the recipe.
struct FreeKnob {
  std::string_view words;
  double Overlap::* part = nullptr;
  bool Recipe::* on = nullptr;
};

enum class Turn {
  recompute,          // `value`: a RecomputePolicy
  micro_batch,        // halved, doubled and so on; `words` has a place for the new size
  zero,               // `value`: the new number
  sequence_parallel,  // on
  reshard,            // with ZeRO 3: 0 always, 1 never
};

enum class Where { everywhere, in_pipelines, outside_pipelines };

// One setting that can be changed while the rest of a plan stays.
struct Knob {
  Turn turn = Turn::recompute;
  std::int64_t value = 0;
  std::string_view words;
  // ZeRO numbers from which it can be turned.
  std::vector<std::int64_t> from = {};
  Where where = Where::everywhere;
};

struct Dialect {
  std::string_view name;       // "torchtitan"
  std::string_view framework;  // whose rules hold: of find_framework_rules
  std::string_view title;      // "torchtitan"
  std::string_view recipe;     // what is usual
  std::string_view noun;       // what its settings are called: "flag"
  std::vector<FreeKnob> free;
  std::vector<Knob> knobs;
  // Rules that the framework itself does not have: an export cannot write it, a user can.
  std::vector<std::string_view> rules_of_exports;
  std::string_view sharding_hint;  // where the best plan shards gradients and the run does not; empty: none
  std::span<const ExportRule> (*rules)() = nullptr;
  // The settings of a plan with their names.
  std::vector<Flag> (*settings)(const ExportFacts& facts) = nullptr;
};

}  // namespace nest::frameworks
