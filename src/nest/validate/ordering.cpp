#include "nest/validate/ordering.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace nest::validate {
namespace {

void compare_pairs(const std::vector<const OrderedItem*>& items, OrderSummary& out) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t k = i + 1; k < items.size(); ++k) {
      const OrderedItem& a = *items[i];
      const OrderedItem& b = *items[k];
      const auto [less, more] = std::minmax(a.measured, b.measured);
      if (more <= less * (1 + kSameMeasurement)) continue;
      ++out.pairs;
      const bool first_is_less = a.measured < b.measured;
      // Equal predictions decide nothing, so they are not right.
      if (first_is_less ? a.predicted < b.predicted : b.predicted < a.predicted) ++out.right;
    }
  }
}

double regret_of(const std::vector<const OrderedItem*>& items) {
  const auto by = [&](double OrderedItem::* figure) {
    return *std::min_element(items.begin(), items.end(), [&](const OrderedItem* a, const OrderedItem* b) {
      return a->*figure < b->*figure;
    });
  };
  return by(&OrderedItem::predicted)->measured / by(&OrderedItem::measured)->measured - 1;
}

}  // namespace

OrderSummary order_of(std::span<const OrderedItem> items) {
  std::map<std::string, std::vector<const OrderedItem*>> sweeps;
  for (const OrderedItem& item : items) sweeps[item.sweep].push_back(&item);
  OrderSummary out;
  double lost = 0;
  for (const auto& [name, members] : sweeps) {
    if (members.size() < 2) continue;
    ++out.sweeps;
    compare_pairs(members, out);
    const double regret = regret_of(members);
    lost += regret;
    out.worst_regret = std::max(out.worst_regret, regret);
  }
  if (out.sweeps > 0) out.regret = lost / static_cast<double>(out.sweeps);
  return out;
}

Value to_value(const OrderSummary& order) {
  Value out = Value::object();
  out.set("pairs", order.pairs).set("right", order.right).set("regret", order.regret);
  out.set("sweeps", order.sweeps).set("worst_regret", order.worst_regret);
  return out;
}

}  // namespace nest::validate
