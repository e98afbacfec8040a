// What a model has besides sizes as flags of Megatron-LM: one row for each of model_details(), with the first release
// that can say it. What a release cannot say is named as left out, because another model is trained without it.
//
//   --rotary-base 500000
//   --use-rope-scaling
//   --rope-scaling-factor 8
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {

// Whether a release of Megatron-LM is `first` or a newer one.
[[nodiscard]] bool is_since(const Release& release, std::string_view first);

struct ModelFlagOptions {
  const Release* release = nullptr;  // none: the usual one
  bool ring = false;                 // context parallelism by ring attention
  // Degrees, which some of the flags go together with and others do not.
  std::int64_t context = 1;
  std::int64_t tensor = 1;
  std::int64_t expert_tensor = 1;
  bool mtp = false;  // modules for multi-token prediction are part of the plan, which has the flag
};

// Where it has none for a value: what is said of it, or "" for the usual sentence.
using DetailLoss = std::optional<std::string>;

struct DetailQuestion {
  const ModelSpec& spec;
  const StackSpec& stack;
  const BlockSpec& block;  // the first with attention
  const Release& release;
  ModelFlagOptions options;

  [[nodiscard]] bool since(std::string_view first) const { return is_since(release, first); }
};

struct MegatronWord {
  std::string_view key;    // of model_details()
  std::string_view since;  // the first release that has it; empty: all
  DetailLoss (*write)(const DetailQuestion& q, FlagSection& flags);
  bool always = false;  // also where the model has none of it
};
[[nodiscard]] std::span<const MegatronWord> megatron_words();
[[nodiscard]] std::span<const MegatronWord> megatron_router_words();

// All rows. A sentence for each that has no flags is added to `lost`.
void add_details(const DetailQuestion& question, FlagSection& flags, std::vector<std::string>& lost);

// "([0]*3+[1]*58)": which of the layers have something.
[[nodiscard]] std::string layer_pattern(const std::vector<bool>& layers);
// "4": all but every fourth layer; else the pattern of `layers`.
[[nodiscard]] std::string all_but_every(const std::vector<bool>& layers);

}  // namespace nest::frameworks
