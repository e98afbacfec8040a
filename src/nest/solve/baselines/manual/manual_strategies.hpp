// The strategies of the manual baseline, in the order in which an expert tries them.
//
//   dense model, nodes of 8   tensor 8, or the widest degree that the heads allow; then 1, 2 and 4
//                             if one stage of it fits
//   mixture of experts        as many experts apart as a node can hold, expert tensor 1, tensor 1, 2, ..
#pragma once

#include <string>
#include <vector>

#include "nest/price/layers/cost_book.hpp"
#include "nest/question/question.hpp"

namespace nest::solve {

struct ManualStrategies {
  // Of a dense model: narrower tensor groups than the usual one, ascending, for models that fit on so few
  // devices without a pipeline (Narayanan et al. 2021, takeaway 2: as little model parallelism as fits).
  std::vector<Strategy> narrow;
  std::vector<Strategy> usual;
  std::vector<Strategy> others;  // where these do not fit, in order
  std::string refusal;           // where there is none: why
};

[[nodiscard]] ManualStrategies manual_strategies(const PlanQuestion& question, const Training& training,
                                                 CostBook& book);

}  // namespace nest::solve
