// Whether predictions order choices as measurements do: the planner's own metric.
//
//   order_of({{"sweep 1", 1.0, 0.9}, {"sweep 1", 1.2, 1.3}})   -> 1 pair, 1 right, no regret
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nest/base/document/value.hpp"

namespace nest::validate {

// Less is better, in both figures.
struct OrderedItem {
  std::string sweep;  // only items of one sweep are compared
  double measured = 0;
  double predicted = 0;
};

struct OrderSummary {
  std::int64_t pairs = 0;
  std::int64_t right = 0;
  std::int64_t sweeps = 0;  // with two items or more
  double regret = 0;        // mean over sweeps: how much worse the predicted best is than the measured best
  double worst_regret = 0;
};

// Measurements that differ by less are taken as equal.
inline constexpr double kSameMeasurement = 0.03;

[[nodiscard]] OrderSummary order_of(std::span<const OrderedItem> items);
[[nodiscard]] Value to_value(const OrderSummary& order);

}  // namespace nest::validate
