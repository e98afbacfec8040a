#include "nest/report/answer/shadow_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

constexpr double kNothing = 0.0005;  // of the step: less is shown as nothing
constexpr std::array<const char*, 3> kAddedKeys{"added_bytes_per_s", "added_bytes", "added_devices"};

bool has_step(const ShadowPrices& prices, const ShadowPrice& row) {
  return !prices.unchanged.plans.empty() || row.plan.has_value();
}

// "nothing", "-4.1 %", with what a search that was stopped leaves open.
std::string gain(const ShadowPrices& prices, const ShadowPrice& row) {
  if (!has_step(prices, row)) return "no plan fits";
  if (prices.unchanged.plans.empty()) return "a plan fits";
  const std::string text = row.share > -kNothing ? "nothing" : format_signed_percent(row.share);
  return row.status == PlanStatus::feasible ? text + " (not proved)" : text;
}

// How the plan that is explained stands beside the best one.
std::string beside_best(const ShadowPrices& prices, const Plan& explained) {
  const Plan& best = prices.unchanged.plans.front();
  const std::string proved =
      prices.unchanged.status == PlanStatus::optimal ? "The best plan" : "The best plan found";
  const double longer = explained.predicted->step.value / best.predicted->step.value - 1;
  const std::string step = format(best.predicted->step);
  if (longer < kNothing && longer > -kNothing)
    return fmt::format("{} of the same question takes {} a step, as this one does.", proved, step);
  if (explained.status == PlanStatus::infeasible)
    return fmt::format("{} of the same question takes {} a step; this one does not fit.", proved, step);
  if (longer < 0)
    return fmt::format(
        "{} of the same question takes {} a step; this one is {} faster: it is outside the space that is "
        "searched, or does not fit as safely.",
        proved, step, format_percent(-longer));
  return fmt::format("{} of the same question takes {} a step; this one takes {} longer.", proved, step,
                     format_percent(longer));
}

}  // namespace

std::string shadow_text(const ShadowPrices& prices, const Plan& explained, const ScreenOptions& options) {
  std::string out = options.title("What more would buy") + " (each from a search of its own)\n";
  if (!prices.unchanged.plans.empty()) out += wrap(beside_best(prices, explained), kTextWidth, 0) + "\n";
  Table table({{"change"}, {"best step", Align::right}, {""}});
  std::string missing;
  for (const ShadowPrice& row : prices.rows) {
    if (row.status == PlanStatus::limit) {
      missing += (missing.empty() ? "" : "; ") + row.change;
      continue;
    }
    table.add({row.change, has_step(prices, row) ? format(row.step) : "", gain(prices, row)});
  }
  if (missing.size() > 0 && prices.unchanged.status == PlanStatus::limit)
    return out + "No plan was found in time to compare with; give it longer with --time-limit.\n";
  out += table.str();
  if (const std::string without = left_out_sentence(prices); !without.empty())
    out += wrap(without, kTextWidth, 0) + "\n";
  if (!missing.empty())
    out += wrap("Not searched in time (give it longer with --time-limit): " + missing + ".", kTextWidth, 0) +
           "\n";
  return out;
}

std::string left_out_sentence(const ShadowPrices& prices) {
  const bool devices = std::any_of(prices.rows.begin(), prices.rows.end(),
                                   [](const ShadowPrice& row) { return row.kind == ShadowKind::devices; });
  return devices || prices.rows.empty()
             ? ""
             : "More devices were not searched: a mesh, a torus or a ring cannot grow by one node.";
}

Value to_value(const ShadowPrices& prices) {
  Value list = Value::array();
  for (const ShadowPrice& row : prices.rows) {
    Value one = Value::object();
    one.set("change", row.change).set("kind", name_of(row.kind));
    if (!row.level.empty()) one.set("level", row.level);
    one.set(kAddedKeys[static_cast<std::size_t>(row.kind)], row.amount);
    one.set("status", name_of(row.status));
    if (row.status != PlanStatus::limit && has_step(prices, row)) {
      one.set("step_s", row.step.value);
      if (!prices.unchanged.plans.empty()) one.set("share", row.share);
    }
    list.push(std::move(one));
  }
  return list;
}

void put_shadow_prices(Value& out, const ShadowPrices& prices) {
  out.set("shadow_prices", to_value(prices)).set("shadow_prices_stopped", prices.stopped);
  if (const std::string without = left_out_sentence(prices); !without.empty())
    out.set("shadow_prices_left_out", without);
}

}  // namespace nest::report
