#include "nest/question/module_points.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/layers/layer_pricer.hpp"
#include "nest/strategies/recompute.hpp"

namespace nest::question {
namespace {

// A kind of block, and how long each of its operators takes.
struct Block {
  const ShardedLayer* layer;
  double count;
  std::vector<double> seconds;
};

struct Judged {
  RecomputeModules modules;
  double seconds = 0;  // that run again
  double bytes = 0;
};

std::vector<Block> blocks_of(const PlanInputs& inputs, CostBook& book, const Training& training) {
  const Model& model = *book.model(training).model;
  const std::vector<ShardedLayer>& types = book.sharded(training, Strategy{});
  price::LayerPricer pricer(inputs.recipe, inputs.cluster, inputs.strategy_table());
  std::vector<Block> blocks;
  for (std::size_t type = 0; type < types.size(); ++type) {
    if (!can_recompute(types[type].layer) || !types[type].layer.has_backward()) continue;
    const auto count =
        std::ranges::count_if(model.layers, [&](const Layer& layer) { return layer.type == type; });
    if (count == 0) continue;
    Block& block = blocks.emplace_back(Block{&types[type], static_cast<double>(count), {}});
    for (const Operator& op : block.layer->layer.operators) {
      const bool kernel = op.kind != OperatorKind::collective;
      block.seconds.push_back(kernel ? pricer.time(block.layer->layer, op, training.precision).forward.value
                                     : 0);
    }
  }
  return blocks;
}

Judged judged(const std::vector<Block>& blocks, const LayerPolicy& policy, const Recipe& recipe,
              Precision precision) {
  Judged out{policy.modules, 0, 0};
  double transient = 0;
  for (const Block& block : blocks) {
    const RecomputeCost cost = recompute_cost(*block.layer, policy, Selective(recipe), precision);
    for (std::size_t k = 0; k < cost.operators.size(); ++k)
      out.seconds +=
          block.count * block.seconds[cost.operators[k]] * (cost.shares.empty() ? 1 : cost.shares[k]);
    out.bytes += block.count * static_cast<double>(cost.stash.value);
    transient = std::max(transient, static_cast<double>(cost.transient.value));
  }
  out.bytes += transient;
  return out;
}

// Those that some block has.
RecomputeModules modules_of(const std::vector<Block>& blocks) {
  RecomputeModules all;
  for (std::size_t i = 0; i < kMostModules; ++i) {
    const RecomputeModules only{static_cast<RecomputeModule>(i)};
    if (std::ranges::any_of(blocks, [&](const Block& block) {
          return !recompute_cost(*block.layer, {RecomputePolicy::modules, only}).operators.empty();
        }))
      all.add(static_cast<RecomputeModule>(i));
  }
  return all;
}

bool covers(const Judged& a, const Judged& b) {
  return a.seconds <= b.seconds && a.bytes <= b.bytes;
}

// Whether b lies on the straight line between a and c or above it: some blocks as in a and the others as in c are no
// slower and no larger.
bool above_line(const Judged& a, const Judged& b, const Judged& c) {
  return (b.seconds - a.seconds) * (a.bytes - c.bytes) >= (c.seconds - a.seconds) * (a.bytes - b.bytes);
}

// Of sets that are each slower and smaller than the one before.
std::vector<Judged> below_lines(const std::vector<Judged>& sets, const Judged& none, const Judged& full) {
  std::vector<Judged> kept{none};
  const auto add = [&](const Judged& next) {
    while (kept.size() > 1 && above_line(kept[kept.size() - 2], kept.back(), next)) kept.pop_back();
    kept.push_back(next);
  };
  for (const Judged& set : sets) add(set);
  const bool smallest = sets.empty() || full.bytes < sets.back().bytes;
  if (smallest) {
    add(full);
    kept.pop_back();
  }
  kept.erase(kept.begin());
  return kept;
}

// Without a point, whoever needs as little memory as it leaves takes the next one: the bytes that it saves, times what
// that costs more.
void keep_few(std::vector<Judged>& points, const Judged& none, const Judged& full) {
  while (points.size() > kMostModulePoints) {
    const auto loss = [&](std::size_t i) {
      const Judged& before = i == 0 ? none : points[i - 1];
      const Judged& after = i + 1 == points.size() ? full : points[i + 1];
      return (after.seconds - points[i].seconds) * (before.bytes - points[i].bytes);
    };
    std::size_t least = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (loss(i) < loss(least)) least = i;
    }
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

}  // namespace

std::vector<RecomputeModules> module_points(const PlanInputs& inputs, const Training& wanted,
                                            const std::vector<RecomputeModules>& allowed) {
  if (inputs.profile() != nullptr) return {};
  Training training = wanted;
  training.micro_batch = 1;
  CostBook book(inputs);
  const std::vector<Block> blocks = blocks_of(inputs, book, training);
  const Precision kept =
      inputs.recipe.low_casts == LowCasts::every_use ? Precision::bf16 : training.precision;
  const auto judge = [&](const LayerPolicy& policy) { return judged(blocks, policy, inputs.recipe, kept); };
  const Judged none = judge(RecomputePolicy::none);
  const Judged full = judge(RecomputePolicy::full);
  const std::vector<Judged> plain{none, judge(RecomputePolicy::selective), full};
  const std::uint32_t present = modules_of(blocks).bits();
  // Small sets first: of equal ones, that with the fewest modules stays.
  std::vector<RecomputeModules> sets;
  for (std::uint32_t bits = 1; bits <= present; ++bits) {
    const RecomputeModules set = RecomputeModules::of_bits(bits);
    // The activations of experts are a part of them.
    const bool twice = set.has(RecomputeModule::moe) && set.has(RecomputeModule::moe_act);
    if ((bits & ~present) == 0 && !twice && (allowed.empty() || std::ranges::count(allowed, set) > 0))
      sets.push_back(set);
  }
  const auto order = [](RecomputeModules set) { return std::pair(set.count(), set.bits()); };
  std::ranges::sort(sets, {}, order);
  std::vector<Judged> found;
  for (const RecomputeModules set : sets) {
    const Judged own = judge({RecomputePolicy::modules, set});
    const auto beaten = [&](const Judged& other) { return covers(other, own); };
    if (std::ranges::any_of(plain, beaten) || std::ranges::any_of(found, beaten)) continue;
    std::erase_if(found, [&](const Judged& other) { return covers(own, other); });
    found.push_back(own);
  }
  std::ranges::sort(found, {}, [&](const Judged& j) { return std::pair(j.seconds, order(j.modules)); });
  found = below_lines(found, none, full);
  keep_few(found, none, full);
  std::vector<RecomputeModules> points;
  points.reserve(found.size());
  for (const Judged& point : found) points.push_back(point.modules);
  return points;
}

std::shared_ptr<const ModulePoints> points_of(const PlanInputs& inputs, const Training& training,
                                              const SearchSpace& space) {
  if (space.recompute.empty() && !space.module_sets) return nullptr;
  const FrameworkRules* rules = space.rules;
  if (rules == nullptr) return std::make_shared<const ModulePoints>(inputs, training);
  if (!rules->has(RecomputePolicy::modules)) return nullptr;
  // What a framework's sets say of dense blocks, they may not say of blocks with experts.
  if (!rules->module_sets.empty() && has_experts(inputs)) return nullptr;
  return std::make_shared<const ModulePoints>(inputs, training, rules->module_sets);
}

}  // namespace nest::question
