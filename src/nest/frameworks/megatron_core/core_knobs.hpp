// Megatron-core's knobs under other names. Frameworks that are built on it take what Megatron-LM takes as
// flags, each in its own words; one table says what each of them calls a flag, and what it must be told where
// Megatron-LM is told nothing, because its own default or that of its recipes differs.
//
//   translate(core_flags(facts, ..), CoreDialect::bridge).settings[0]
//       -> {"model.tensor_model_parallel_size", "8"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

// Megatron Bridge's fields and verl's keys are Hydra's overrides, ms-swift's are arguments.
enum class CoreDialect { bridge, verl, ms_swift };

// How the value is made from the flag's.
enum class KnobKind {
  value,
  on,      // a flag without a value: true
  off,     // the same, but false
  quoted,  // a text with signs that Hydra reads otherwise
  list,    // [core_attn]
  pair,    // "4095,0" -> [4095,0]
  layers,  // "([0]*3+[1]*2)" -> [0,0,0,1,1]
  dtype,
  word  // the knob's own word, whatever the flag's value is
};

struct KnobWord {
  // Empty: there is no such knob, and what the flag says is lost. kNeedless: it is so by itself.
  std::string_view key = {};
  std::string_view absent = {};  // what is written where the flag is absent; empty: nothing
};
inline constexpr std::string_view kNeedless = "-";

struct CoreKnob {
  std::string_view flag;  // of Megatron-LM; empty: it has none, and `absent` is always written
  KnobKind kind = KnobKind::value;
  KnobWord bridge;
  KnobWord verl;
  KnobWord ms_swift;
  std::string_view word = {};  // of KnobKind::word

  [[nodiscard]] const KnobWord& in(CoreDialect dialect) const;
};

[[nodiscard]] std::span<const CoreKnob> core_knobs();

struct Setting {
  std::string key;
  std::string value;

  bool operator==(const Setting&) const = default;
};

struct Translation {
  std::vector<Setting> settings;  // in the order of the table, each key once
  std::vector<Flag> unknown;      // what the dialect has no word for
};
[[nodiscard]] Translation translate(const std::vector<Flag>& flags, CoreDialect dialect);
// "--window-size 4095,0 has no field in Megatron Bridge", for each that is unknown.
[[nodiscard]] std::vector<std::string> unknown_losses(const Translation& translation, std::string_view noun);

struct CoreQuestion {
  std::string_view core;  // the release of Megatron-core: "core_v0.19"
  RankOrder order = RankOrder::data_before_stage;
  bool model = false;  // with the flags of the model
};
// Megatron-LM's arguments for a plan, and the number of chunks also where a layout implies it, which the
// others want to be told. What cannot be said is added to `lost`.
[[nodiscard]] std::vector<Flag> core_flags(const ExportFacts& facts, const CoreQuestion& question,
                                           std::vector<std::string>& lost);

}  // namespace nest::frameworks
