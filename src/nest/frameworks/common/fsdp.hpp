// FSDP's reshard_after_forward, as torchtitan's and Accelerate's files have it.
#pragma once

#include "nest/plan/zero.hpp"

namespace nest::frameworks {

// What ZeRO 2 keeps whole, FSDP gathers once.
[[nodiscard]] inline bool frees_gathered(Zero zero) {
  return zero.shards_parameters() && !zero.resharding().keeps();
}

// The ZeRO of a file: none without shards, else 3, which may keep what it gathered.
[[nodiscard]] inline Zero fsdp_zero(bool shards, bool keeps) {
  if (!shards) return {0};
  return keeps ? Zero(3, {plan::Resharding::Kind::never, 0}) : Zero(3);
}

}  // namespace nest::frameworks
