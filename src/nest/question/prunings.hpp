// The names of all prunings. Each can be switched off; the answer must stay the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::question {

// Bounds and prices add the same numbers in different orders: a bound times this is no false one.
inline constexpr double kRounding = 1 - 1e-12;

struct Prunings {
  bool dominance = true;      // labels that another label is nowhere above
  bool floors = true;         // end-of-step labels that the passes still to come hide in any case
  bool label_bound = true;    // labels that cannot become better than the best plan
  bool stage_bound = true;    // stages that alone take longer than the best plan
  bool memory_order = true;   // longer stages where the weights of a shorter one do not fit
  bool option_order = true;   // more recomputation where less fits and hides everything already
  bool memory_bound = true;   // degrees whose weights and states are too much for all devices together
  bool group_bound = true;    // degrees whose bound is above the best plan
  bool relaxed_bound = true;  // degrees whose best stages on the best network are above the best plan
  bool network_bound = true;  // placements whose bound is above the best plan
  bool same_network = true;   // placements with equal networks
  bool split_bound = true;    // interleaved splits whose bound is above the best plan
  bool melted_bound = true;   // tables in which labels that melt into few are above the best plan
  bool completions = true;    // labels whose first stages, however they are cut, make them too slow
  bool put_off = true;        // tables that take much work, until their bound is the least
  bool beam = true;           // looks for good stages of a configuration before the best
  bool dive = true;           // looks for a good plan first
};

[[nodiscard]] const std::vector<std::string>& pruning_names();
// The switch of a name; none where there is no such pruning.
[[nodiscard]] bool* find_pruning(Prunings& prunings, std::string_view name);

}  // namespace nest::question
