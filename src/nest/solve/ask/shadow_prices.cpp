#include "nest/solve/ask/shadow_prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/tree/best_plans.hpp"

namespace nest::solve {
namespace {

constexpr double kMoreBandwidth = 1.25;
constexpr Bytes kMoreMemory{std::int64_t{8} << 30};
constexpr std::array<std::string_view, 3> kKinds{"bandwidth", "memory", "devices"};

struct Change {
  ShadowPrice row;
  PlanInputs inputs;
};

std::vector<Change> changes(const PlanInputs& inputs) {
  std::vector<Change> all;
  const Cluster& cluster = inputs.cluster;
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const Level& level = cluster.levels()[l];
    ShadowPrice row{.change = fmt::format("25 % more bandwidth at level '{}'", level.name),
                    .kind = ShadowKind::bandwidth,
                    .level = level.name,
                    .amount = (kMoreBandwidth - 1) * level.bandwidth.value};
    all.push_back(
        {std::move(row), with_bandwidth(inputs, LevelId{static_cast<std::int32_t>(l)}, kMoreBandwidth)});
  }
  ShadowPrice memory{.change = "8 GiB more memory",
                     .kind = ShadowKind::memory,
                     .amount = static_cast<double>(kMoreMemory.value)};
  all.push_back({std::move(memory), with_memory(inputs, cluster.device_memory() + kMoreMemory)});
  if (std::optional<PlanInputs> more = with_one_more_domain(inputs)) {
    const std::int64_t added = more->cluster.devices() - cluster.devices();
    ShadowPrice row{
        .change = fmt::format("{} more device{}{}", added, added == 1 ? "" : "s",
                              added == 1 ? "" : fmt::format(" (one {})", cluster.levels().front().name)),
        .kind = ShadowKind::devices,
        .amount = static_cast<double>(added)};
    all.push_back({std::move(row), std::move(*more)});
  }
  return all;
}

class ShadowPricer {
 public:
  ShadowPricer(const PlanQuestion& question, const ShadowOptions& options, const SearchFunction& searching)
      : question_(question), options_(options), searching_(searching) {
    question_.options.top = 1;
    question_.options.runners_up = 0;
    question_.options.gap = 0;
    question_.options.objective = Objective::step_time;
    question_.options.target_tokens_per_s = 0;
    question_.options.least_memory = false;
    question_.batches.clear();
    question_.options.deadline = question.options.deadline.within(options.limit);
  }

  [[nodiscard]] ShadowPrices price() {
    std::vector<Change> all = changes(question_.inputs);
    ShadowPrices out;
    // The plan that all others are compared with is worth more of the time than any other.
    out.unchanged = look("the best plan as it is", question_.inputs, all.size() + 1, 2);
    out.stopped = cut_short(out.unchanged.status);
    const bool known = out.unchanged.status != PlanStatus::limit;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (known) search_row(all[i], all.size() - i, out);
      out.stopped = out.stopped || cut_short(all[i].row.status);
      out.rows.push_back(std::move(all[i].row));
    }
    return out;
  }

 private:
  // One of so many searches that are still to come, with so many shares of the time.
  SearchResult look(const std::string& what, const PlanInputs& inputs, std::size_t to_come, double shares = 1,
                    std::optional<Seconds> known = std::nullopt) {
    PlanQuestion changed = question_;
    changed.inputs = inputs;
    if (known) changed.options.slowest = *known * (1 + kTie);
    const Deadline& deadline = question_.options.deadline;
    if (deadline.over()) return {.status = PlanStatus::limit};
    if (options_.asking) options_.asking(what);
    const double parts = static_cast<double>(to_come) - 1 + shares;
    changed.options.deadline = deadline.within(*deadline.left() * (shares / parts));
    try {
      return searching_(changed);
    } catch (const InputError& error) {  // a cluster that the model cannot run on
      return {.status = PlanStatus::infeasible, .reason = error.problem()};
    }
  }

  // The plan that is the best without the change, where it runs with it.
  [[nodiscard]] std::optional<Plan> repriced(const Plan& plan, const PlanInputs& inputs) const {
    try {
      Pricer pricer(inputs, question_.options.price_options());
      const PricedPlan priced = pricer.price(plan);
      if (priced.status != PriceStatus::feasible) return std::nullopt;
      return with_results(plan, priced);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void search_row(Change& change, std::size_t to_come, ShadowPrices& out) {
    ShadowPrice& row = change.row;
    // More of a resource is never worse: the best plan from before is known, and only better ones count.
    std::optional<Plan> same;
    if (!out.unchanged.plans.empty()) same = repriced(out.unchanged.plans.front(), change.inputs);
    SearchResult found = look(row.change, change.inputs, to_come, 1,
                              same ? std::optional(same->predicted->step) : std::nullopt);
    row.status = found.status;
    if (!found.plans.empty()) row.plan = std::move(found.plans.front());
    if (same && row.status == PlanStatus::infeasible) row.status = PlanStatus::optimal;  // none is better
    // A search that was begun and stopped found no better plan, but there may be one.
    if (same && row.status == PlanStatus::limit && !found.reason.empty()) row.status = PlanStatus::feasible;
    if (same && (!row.plan || same->predicted->step < row.plan->predicted->step)) row.plan = std::move(same);
    if (out.unchanged.plans.empty()) {
      if (row.plan) row.step = row.plan->predicted->step;
      return;
    }
    const Seconds before = out.unchanged.plans.front().predicted->step;
    row.step = row.plan ? std::min(before, row.plan->predicted->step) : before;
    row.share = row.step.value / before.value - 1;
    if (-row.share < kTie) row.share = 0;
    if (row.status == PlanStatus::optimal && out.unchanged.status != PlanStatus::optimal)
      row.status = PlanStatus::feasible;
  }

  PlanQuestion question_;
  const ShadowOptions& options_;
  const SearchFunction& searching_;
};

}  // namespace

std::string_view name_of(ShadowKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

ShadowPrices shadow_prices(const PlanQuestion& question, const ShadowOptions& options,
                           const SearchFunction& searching) {
  return ShadowPricer(question, options, searching).price();
}

}  // namespace nest::solve
