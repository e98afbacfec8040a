// Weights that several stages share: what a search asks of them, one question after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nest/plan/rules/layer_graph.hpp"
#include "nest/solve/table/fill.hpp"

namespace nest::solve {

// Which stages share weights with others, for one placement.
struct TieQuestion {
  FillQuestion::Ties ties = FillQuestion::Ties::any;
  std::size_t first = 0;
  std::size_t last = 0;

  bool operator==(const TieQuestion&) const = default;
};
// All that plans of so many stages may have under the schedule.
[[nodiscard]] std::vector<TieQuestion> tie_questions(const LayerGraph& graph, std::int64_t stages,
                                                     Schedule schedule = Schedule::one_f_one_b);

}  // namespace nest::solve
