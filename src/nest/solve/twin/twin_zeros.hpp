// What a space allows of ZeRO's resharding, written again from docs/decisions/0004-plan-space.md.
#pragma once

#include <cstdint>
#include <vector>

#include "nest/question/search_space.hpp"

namespace nest::solve {

// Of one number of ZeRO over so many ranks; empty: the space leaves this number out.
[[nodiscard]] inline std::vector<Zero> twin_zeros(const SearchSpace& space, std::int64_t number,
                                                  const Parallelism& plan, std::int64_t shards) {
  const bool keeps = space.rules != nullptr && space.rules->keeps_gathered(plan.strategy);
  const std::int64_t pipeline = plan.pipeline;
  if (keeps && number == 2 && space.zero.open()) return {};
  if (number < 3) return {Zero(number)};
  std::vector<Resharding> all = space.reshardings;
  if (all.empty() && (!keeps || pipeline == 1)) all.emplace_back();
  if (all.empty() || (space.reshardings.empty() && keeps && pipeline == 1))
    all.push_back({Resharding::Kind::never, 0});
  std::vector<Zero> zeros;
  for (const Resharding& one : all) {
    const bool group = one.kind == Resharding::Kind::group;
    if (!group || (one.number > 1 && one.number < shards && shards % one.number == 0))
      zeros.emplace_back(number, one);
  }
  return zeros;
}

}  // namespace nest::solve
