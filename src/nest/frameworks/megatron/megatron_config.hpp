// A model built from Megatron-LM's flags: the config.json that comes nearest, and what it does not say or says
// otherwise. Flags say more than such a file can: a feed-forward network without a gate beside grouped queries
// has no family of its own, for example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/frameworks/common/flags.hpp"

namespace nest::frameworks {

struct MegatronConfig {
  Value config;                      // null where there is none, with a reason
  std::string reason;                // a sentence without a full stop
  std::vector<std::string> assumed;  // what was assumed or left out, likewise
};

[[nodiscard]] MegatronConfig config_of(const std::vector<Flag>& flags);

// Why no model here is the one of the flags, whatever its sizes; "" where nothing says so.
[[nodiscard]] std::string unknown_family(const std::vector<Flag>& flags);

// Which of the layers have experts, as --moe-layer-freq says it: "2" (every second) or "([0]*3+[1]*58)". Empty
// where it says something else.
[[nodiscard]] std::vector<bool> expert_layers(const std::string& frequency, std::int64_t layers);

}  // namespace nest::frameworks
