// Rules of placement that are wider than the planner's own, to see what each would catch.
//
//   cell_starts(tree, {.cell = 1, .stages = 2, .copies = 2}, {.name = "any offset", .offsets = Offsets::any})
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/cluster/tree.hpp"

namespace nest::tools::study {

// Sizes of a block: the rule's, multiples of a domain's, all.
enum class Blocks { own, domains, any };
// Where the first cell lies: at device 0, also at the first of each level's largest domains, at any domain,
// anywhere.
enum class Offsets { zero, largest, domains, any };
// Of stages in device order.
enum class Orders { linear, folded, any };
// Stages whose copies all lie side by side, behind the other stages: none, the first, that or the last, any
// number at either end.
enum class Apart { none, first, end, any };

struct Family {
  std::string name;
  Blocks blocks = Blocks::own;
  Offsets offsets = Offsets::zero;
  Orders orders = Orders::linear;
  Apart apart = Apart::none;
  bool stages_inside = false;  // some stages of a copy lie side by side, inside the copies
  bool whole_rows = false;     // the cells of a stage move to the next edge together
  bool straddle = false;       // cells need not move at all
};

struct Degrees {
  std::int64_t cell = 1;
  std::int64_t stages = 1;
  std::int64_t copies = 1;
};

// First devices of the cells, [stage * copies + copy], of every placement of the family, without repeats.
[[nodiscard]] std::vector<std::vector<std::int32_t>> cell_starts(const DeviceTree& tree,
                                                                 const Degrees& degrees,
                                                                 const Family& family);

}  // namespace nest::tools::study
