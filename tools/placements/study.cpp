#include "study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "all_placements.hpp"
#include "climb.hpp"
#include "nest/solve/twin/brute_force.hpp"

namespace nest::tools::study {
namespace {

std::string spell(const Cluster& cluster) {
  std::string text;
  for (const Level& level : cluster.levels()) {
    std::string size = std::to_string(level.fan_out.size);
    if (!level.fan_out.uniform()) size = fmt::format("{}", fmt::join(level.fan_out.sizes, "+"));
    if (level.is_grid()) size = fmt::format("{}", fmt::join(level.dims, "x"));
    text += fmt::format("  {} of {}, {:.3g} GB/s / {}, {:.3g} us\n", to_string(level.kind), size,
                        level.bandwidth.value / 1e9, level.oversubscription, level.latency.value * 1e6);
  }
  return text;
}

std::string spell(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  std::string text = fmt::format(
      "  step {:.4g} s, cell {} (tensor {}, context {}, expert {}), {} copies:", plan.predicted->step.value,
      p.strategy.cell(), p.strategy.tensor, p.strategy.context, p.strategy.expert, p.copies());
  for (const Stage& stage : plan.stages) {
    text += fmt::format(" {} layers at", stage.layers.size());
    for (const Cell& cell : stage.devices) {
      text += " {";
      for (const DeviceId id : cell) text += fmt::format("{} ", id.value);
      text.back() = '}';
    }
    text += ';';
  }
  const Breakdown& b = plan.predicted->breakdown;
  const auto share = [&](Seconds part) { return 100 * part.value / plan.predicted->step.value; };
  return text +
         fmt::format(
             "\n    compute {:.1f} %, bubble {:.1f}, pipeline {:.1f}, data {:.1f}, tensor {:.1f}, context "
             "{:.1f}, expert {:.1f}\n",
             share(b.compute + b.recompute + b.optimizer), share(b.bubble), share(b.pipeline),
             share(b.data + b.zero), share(b.tensor), share(b.context), share(b.expert));
}

// What is left of the gain by each family of placements, and how many placements it has.
void try_families(Pricer& pricer, const std::vector<std::vector<Plan>>& all,
                  const std::vector<Family>& families, Seconds rule, Seconds best, Outcome& outcome) {
  const DeviceTree& tree = pricer.inputs().cluster.tree();
  std::vector<double> found(families.size(), rule.value);
  std::vector<double> placements(families.size(), 0);
  for (const std::vector<Plan>& plans : all) {
    AllPlacements placed(pricer, plans);
    for (std::size_t f = 0; f < families.size(); ++f) {
      placements[f] += static_cast<double>(cell_starts(tree, placed.degrees(), families[f]).size());
      if (best.value >= rule.value * (1 - kNoise)) continue;  // nothing to find
      const std::optional<Plan> plan = placed.best_of(families[f]);
      if (plan) found[f] = std::min(found[f], plan->predicted->step.value);
    }
  }
  for (std::size_t f = 0; f < families.size(); ++f) {
    outcome.left.push_back(std::max(0.0, found[f] - best.value) / rule.value);
    outcome.searched.push_back(placements[f] / placements[0]);
  }
}

double talk_of(const Plan& plan) {
  const Breakdown& b = plan.predicted->breakdown;
  return (b.tensor + b.expert + b.context + b.pipeline + b.data + b.zero).value / plan.predicted->step.value;
}

Outcome outcome_of(const Cluster& cluster, const Plan& rule, const Plan& best, unsigned seed) {
  Outcome outcome;
  outcome.gain = 1 - best.predicted->step.value / rule.predicted->step.value;
  outcome.communication = talk_of(rule);
  outcome.form = form_of(cluster);
  outcome.full = 4 * rule.parallelism.devices() >= 3 * cluster.devices();
  if (outcome.usual_talk() && outcome.gain > 0.01)
    outcome.story = fmt::format("{:.1f} % (seed {}, communication {:.1f} %)\n{}{}{}", 100 * outcome.gain,
                                seed, 100 * outcome.communication, spell(cluster), spell(rule), spell(best));
  return outcome;
}

// The best plan of the rule for each strategy, number of stages, of copies and of inner copies, by step.
std::vector<Plan> rule_plans(Pricer& pricer, const Setting& setting) {
  constexpr std::int64_t kMostPlans = 400'000;
  std::map<std::array<std::int64_t, 4>, Plan> best;
  PricedPlan priced;
  std::int64_t plans = 0;
  const bool all = for_each_plan(setting.inputs, setting.training, setting.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    const Parallelism& p = plan.parallelism;
    if (priced.status == PriceStatus::feasible) {
      Plan& known = best[{p.strategy.tensor, p.pipeline, p.copies(), p.data_inner}];
      if (!known.predicted || priced.predicted.step < known.predicted->step)
        known = with_results(plan, priced);
    }
    return ++plans < kMostPlans;
  });
  std::vector<Plan> out;
  for (const auto& [degrees, plan] : best) {
    if (all) out.push_back(pricer.place(plan));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Plan& a, const Plan& b) { return a.predicted->step < b.predicted->step; });
  return out;
}

}  // namespace

const std::vector<Family>& tiny_families() {
  static const std::vector<Family> kFamilies{
      {.name = "the rule"},
      {.name = "blocks of any multiple of a domain", .blocks = Blocks::domains},
      {.name = "blocks of any size", .blocks = Blocks::any},
      {.name = "first cell also at each level's largest domain", .offsets = Offsets::largest},
      {.name = "first cell at any domain", .offsets = Offsets::domains},
      {.name = "first cell anywhere", .offsets = Offsets::any},
      {.name = "stages there and back", .orders = Orders::folded},
      {.name = "stages in any order", .orders = Orders::any},
      {.name = "neighbouring stages inside the copies", .stages_inside = true},
      {.name = "a stage's cells move to an edge together", .whole_rows = true},
      {.name = "cells may straddle domains", .straddle = true},
      {.name = "some stages apart, all copies side by side", .apart = Apart::any},
      {.name = "all of these",
       .blocks = Blocks::any,
       .offsets = Offsets::any,
       .orders = Orders::any,
       .apart = Apart::any,
       .stages_inside = true,
       .whole_rows = true,
       .straddle = true},
  };
  return kFamilies;
}

const std::vector<Family>& node_families() {
  static const std::vector<Family> kFamilies{
      {.name = "the rule"},
      {.name = "blocks of any multiple of a domain", .blocks = Blocks::domains},
      {.name = "first cell also at each level's largest domain", .offsets = Offsets::largest},
      {.name = "first cell at any domain", .offsets = Offsets::domains},
      {.name = "stages there and back", .orders = Orders::folded},
      {.name = "neighbouring stages inside the copies", .stages_inside = true},
      {.name = "a stage's cells move to an edge together", .whole_rows = true},
      {.name = "cells may straddle domains", .straddle = true},
      {.name = "the first stage apart, its copies side by side", .apart = Apart::first},
      {.name = "the first or the last stage apart", .apart = Apart::end},
      {.name = "some stages apart, all copies side by side", .apart = Apart::any},
      {.name = "all of these",
       .blocks = Blocks::domains,
       .offsets = Offsets::domains,
       .orders = Orders::folded,
       .apart = Apart::any,
       .stages_inside = true,
       .whole_rows = true,
       .straddle = true},
  };
  return kFamilies;
}

std::optional<Outcome> compare_tiny(unsigned seed, std::size_t ratio, std::size_t kind) {
  test::Dice dice(seed);
  const Setting setting = random_setting(dice, kKinds[kind], kRatios[ratio]);
  const Cluster& cluster = setting.inputs.cluster;
  const BruteForceResult rule = brute_force(setting.inputs, setting.training, setting.space, {}, 1'000'000);
  if (!rule.best || !rule.complete || rule.step->value <= 0) return std::nullopt;
  Pricer pricer(setting.inputs);
  Plan best = *rule.best;
  const std::vector<std::vector<Plan>> all = plans_by_degrees(setting);
  for (const std::vector<Plan>& plans : all) {
    const std::optional<Plan> found = AllPlacements(pricer, plans).best();
    if (found && found->predicted->step < best.predicted->step) best = *found;
  }
  Outcome outcome = outcome_of(cluster, *rule.best, best, seed);
  outcome.ratio = ratio;
  outcome.kind = kind;
  if (outcome.usual_talk())
    try_families(pricer, all, tiny_families(), *rule.step, best.predicted->step, outcome);
  return outcome;
}

std::optional<Outcome> compare_nodes(unsigned seed, bool uneven) {
  test::Dice dice(seed);
  const Setting setting = node_setting(dice, uneven);
  Pricer pricer(setting.inputs);
  std::vector<Plan> plans = rule_plans(pricer, setting);
  if (plans.empty() || talk_of(plans.front()) < 0.01 || talk_of(plans.front()) >= 0.3) return std::nullopt;
  const Plan rule = plans.front();
  std::erase_if(plans, [&](const Plan& plan) { return plan.predicted->step > 1.15 * rule.predicted->step; });
  Plan best = rule;
  std::vector<std::vector<Plan>> all;
  for (Plan& plan : plans) {
    const Plan found = climb(pricer, plan, seed);
    if (found.predicted->step < best.predicted->step) best = found;
    for (const Family& family : node_families()) {
      const std::optional<Plan> other = AllPlacements(pricer, {plan}).best_of(family);
      if (other && other->predicted->step < best.predicted->step) best = *other;
    }
    all.push_back({std::move(plan)});
  }
  Outcome outcome = outcome_of(setting.inputs.cluster, rule, best, seed);
  try_families(pricer, all, node_families(), rule.predicted->step, best.predicted->step, outcome);
  return outcome;
}

}  // namespace nest::tools::study
