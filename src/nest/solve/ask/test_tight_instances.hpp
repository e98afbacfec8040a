// Random small instances on which recomputation decides: real layers with collectives, one or a few
// configurations with interleaving or ZeRO 2 and 3, every recomputation, slow networks, and memories between
// what the plans need. random_instance() has few of these.
//
//   tight_differences(seed, 4'000, 10, {}, [](const std::string& what) { .. })
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/twin/test_states.hpp"

namespace nest::test {
using namespace solve;

// A few more layers than random_architecture() has, mostly a mixture of experts.
[[nodiscard]] inline Value tight_architecture(Dice& dice, std::int64_t& experts) {
  const std::string family =
      dice.one_of<std::string>({"llama", "mixtral", "mixtral", "qwen3_moe", "qwen3_moe"});
  const std::int64_t hidden = dice.one_of<std::int64_t>({512, 1024, 2048, 4096});
  const std::int64_t heads = hidden / 128;
  Value v = Value::object();
  v.set("model_type", family).set("_name_or_path", "tight-" + family);
  v.set("vocab_size", dice.one_of<std::int64_t>({1024, 32768, 131'072}));
  v.set("tie_word_embeddings", dice.once_in(4));
  v.set("hidden_size", hidden).set("num_hidden_layers", dice.pick(3, 10));
  v.set("intermediate_size", hidden * dice.one_of<std::int64_t>({1, 3}));
  v.set("num_attention_heads", heads).set("num_key_value_heads", dice.once_in(2) ? heads : heads / 2);
  v.set("head_dim", 128).set("max_position_embeddings", 32768);
  experts = family == "llama" ? 1 : dice.one_of<std::int64_t>({2, 4, 8});
  if (family == "mixtral") v.set("num_local_experts", experts).set("num_experts_per_tok", 2);
  if (family == "qwen3_moe") {
    v.set("num_experts", experts).set("num_experts_per_tok", 2);
    v.set("moe_intermediate_size", hidden * dice.one_of<std::int64_t>({1, 2}) / 2);
    v.set("decoder_sparse_step", dice.pick(1, 2)).set("mlp_only_layers", Value::array());
  }
  return v;
}

// One level or two of switches. A layer's parameters take about as long on the outer one as `tokens` take
// through the layer: between a tenth and ten times. Memory has no end yet.
[[nodiscard]] inline Cluster tight_cluster(Dice& dice, std::int64_t tokens) {
  const double outer = 1.3e14 / static_cast<double>(tokens) * log_pick(dice, -1, 1);
  const auto level = [&](const std::string& name, std::int64_t size, double speed) {
    return "  - {name: " + name + ", kind: switch, size: " + std::to_string(size) +
           ", bandwidth: " + std::to_string(std::round(speed)) +
           ", latency: " + dice.one_of<std::string>({"1 us", "5 us", "50 us"}) + "}\n";
  };
  const std::int64_t node = dice.one_of<std::int64_t>({2, 4, 8, 8});
  std::string levels = level("node", node, outer * dice.one_of<double>({1, 4, 16, 16}));
  if (!dice.once_in(4)) levels += level("net", dice.one_of<std::int64_t>({2, 3, 4}), outer);
  const std::string base = dice.one_of<std::string>({"h100-sxm", "h100-sxm", "a100-80"});
  return read_cluster(parse_yaml("cluster", "name: tight\naccelerator: {base: " + base +
                                                ", memory: 1000000000000000}\nlevels:\n" + levels));
}

// Degrees that the cluster has room for, mostly one of each.
[[nodiscard]] inline SearchSpace tight_space(Dice& dice, const PlanInputs& inputs, std::int64_t experts) {
  SearchSpace s;
  const std::int64_t devices = inputs.cluster.devices();
  const bool interleaved = dice.once_in(2);
  const std::int64_t p = std::min(devices, dice.one_of<std::int64_t>({2, 2, 3, 3, 4}));
  const std::int64_t t = p * 2 <= devices && dice.once_in(2) ? 2 : 1;
  const std::int64_t data = std::max<std::int64_t>(1, devices / (p * t));
  std::int64_t expert = 1;
  for (std::int64_t e = 2; e <= experts; e *= 2) {
    if (data * t % e == 0 && !dice.once_in(4)) expert = e;
  }
  s.pipeline = Choice(p);
  s.tensor = Choice(t);
  s.data = Choice(data);
  s.expert = Choice(expert);
  s.context = Choice(1);
  s.expert_tensor = Choice(1);
  s.first_stage_first = {dice.once_in(2)};
  s.micro_batch = Choice(dice.one_of<std::int64_t>({1, 1, 2}));
  s.zero = Choice(interleaved ? dice.one_of<std::int64_t>({0, 1, 1, 2, 3})
                              : dice.one_of<std::int64_t>({0, 1, 2, 2, 2, 3, 3}));
  s.interleave = Choice(interleaved ? dice.one_of<std::int64_t>({2, 2, 3}) : 1);
  if (!interleaved && dice.once_in(4))
    s.schedules = {dice.one_of<Schedule>({Schedule::gpipe, Schedule::zb_h1})};
  // Now and then more than one.
  if (dice.once_in(4)) s.first_stage_first = {};
  if (dice.once_in(4)) s.micro_batch = Choice({{1, 2}});
  if (dice.once_in(4)) s.zero = some_of(dice, {0, 1, 2, 3});
  if (dice.once_in(6)) s.expert = {};
  if (dice.once_in(6)) s.tensor = Choice({{1, 2}});
  s.mixed = !interleaved && dice.once_in(8);
  return s;
}

// Schedules that are searched only where they are asked for: `only`, or now and then one by dice of their own, so that
// the other draws stay as they were.
inline void draw_schedules(unsigned seed, std::optional<Schedule> only, SearchSpace& s) {
  Dice dice(seed + 4'000'037);
  const auto drawn = dice.one_of<Schedule>({Schedule::zb_v, Schedule::dualpipe_v, Schedule::dualpipe_v});
  const bool own = dice.once_in(3) && s.interleave.has(2) && s.pipeline.values(8).front() > 1;
  if (!only && !own) return;
  s.interleave = Choice(2);
  s.mixed = false;
  s.schedules = {only.value_or(drawn)};
  if (!only && dice.once_in(3)) s.schedules.push_back(Schedule::interleaved);
  if (dice.once_in(4)) s.expert_overlap = {true, false};
}

[[nodiscard]] inline Instance tight_instance(unsigned seed, std::int64_t most_plans,
                                             std::optional<Schedule> only = std::nullopt) {
  Dice dice(seed);
  std::int64_t experts = 1;
  // From a copy: the other draws stay as they were before there were hybrids.
  Dice more = dice;
  Value model = tight_architecture(dice, experts);
  if (more.once_in(4)) model = hybrid_architecture(more, more.pick(3, 8), experts);
  Warnings warnings;
  ModelSource source(read_hub_config(parse_json("model", to_json(model)), "tight", warnings));
  const std::int64_t sequence = dice.one_of<std::int64_t>({512, 2048, 4096, 8192});
  Cluster cluster = tight_cluster(dice, sequence);
  Recipe recipe = dice.once_in(2)   ? named_recipe("torchtitan")
                  : dice.once_in(2) ? named_recipe(dice.one_of<std::string>({"megatron", "deepspeed"}))
                                    : random_recipe(dice, Bytes{1'000'000});
  recipe.reserve = Bytes{1'000'000};
  Instance made{{model, std::move(source), std::move(cluster), std::move(recipe)}, {}, {}, {}, {}};
  made.space = tight_space(dice, made.inputs, experts);
  draw_schedules(seed, only, made.space);
  draw_resharding(seed, made.inputs, made.space);
  Training& t = made.training;
  t.sequence = sequence;
  t.global_batch = dice.one_of<std::int64_t>({4, 8, 8, 12, 16, 24, 32, 48});
  t.optimizer = made.inputs.recipe.optimizer;
  draw_lengths(seed, made);
  draw_mtp(seed, made);
  made.options.threads = 1;
  if (dice.once_in(12))
    made.options.pipeline_model = dice.one_of<PipelineModel>({PipelineModel::sum_max, PipelineModel::paper});
  // What makes the space larger than the twin can go through goes first.
  SearchSpace& s = made.space;
  const auto count = [&] { return count_plans(made.inputs, t, s, most_plans); };
  const std::int64_t p = s.pipeline.values(8).front();
  std::int64_t plans = count();
  if (plans == 0) {
    t.global_batch = s.data.values(64).front() * p * 2 * dice.pick(1, 3);
    plans = count();
  }
  if (plans == 0) {
    s.data = s.expert = s.micro_batch = Choice(1);
    t.global_batch = p * 4;
    plans = count();
  }
  const auto narrow = [&](auto change) {
    if (plans <= most_plans) return;
    change();
    plans = count();
  };
  Dice own(seed + 5'000'011);
  const auto bits = static_cast<std::uint32_t>(own.pick(1, (1 << kMostModules) - 1));
  const Recompute set{RecomputePolicy::modules, 0, RecomputeModules::of_bits(bits)};
  narrow([&] {
    if (own.once_in(2)) {
      s.module_sets = false;
    } else {
      s.recompute = {{RecomputePolicy::none, 0}, set, {RecomputePolicy::full, 1}, {RecomputePolicy::full, 0}};
    }
  });
  narrow([&] { s.mixed = false; });
  narrow([&] { s.first_stage_first = {true}; });
  narrow([&] { s.micro_batch = Choice(1); });
  narrow([&] {
    if (!s.reshardings.empty()) s.reshardings.resize(1);
  });
  narrow([&] { s.zero = Choice(s.zero.values(3, 0).back()); });
  narrow([&] { s.tensor = Choice(s.tensor.values(2).front()); });
  narrow([&] { s.expert = Choice(1); });
  narrow([&] { s.data_inner = Choice(1); });
  narrow([&] { s.zero_shards = Choice(s.data.values(64).front()); });
  narrow([&] { s.pipeline = Choice(std::min<std::int64_t>(2, p)); });
  narrow([&] {
    s.recompute = {{RecomputePolicy::none, 0},
                   own.once_in(2) ? set : Recompute{RecomputePolicy::selective, 0},
                   {RecomputePolicy::full, 1},
                   {RecomputePolicy::full, 0}};
  });
  narrow([&] { s.same_recompute = true; });
  narrow([&] { s.data = Choice(1); });
  return made;
}

// Every plan of an instance, with what it needs and takes. The twin's answer for any memory.
class TightTwin {
 public:
  explicit TightTwin(const Instance& instance) {
    Pricer pricer(instance.inputs, instance.options.price_options());
    PricedPlan priced;
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      pricer.price(plan, priced);
      if (priced.status != PriceStatus::feasible) return true;
      Bytes most;
      for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total());
      plans_.emplace_back(most, priced.predicted.step);
      return true;
    });
    std::sort(plans_.begin(), plans_.end());
    for (std::size_t i = 1; i < plans_.size(); ++i)
      plans_[i].second = std::min(plans_[i].second, plans_[i - 1].second);
  }

  [[nodiscard]] std::size_t plans() const { return plans_.size(); }
  // Just enough for one of the plans, or not quite.
  [[nodiscard]] Bytes some_memory(Dice& dice) const {
    const auto last = static_cast<std::int64_t>(plans_.size()) - 1;
    const std::int64_t at = dice.pick(0, dice.one_of<std::int64_t>({last / 20, last / 5, last / 2, last}));
    const Bytes need = plans_[static_cast<std::size_t>(at)].first;
    return dice.once_in(4) ? need - Bytes{1} : need;
  }
  // None where no plan fits.
  [[nodiscard]] std::optional<Seconds> best(Bytes memory) const {
    const auto end = std::partition_point(plans_.begin(), plans_.end(),
                                          [&](const auto& plan) { return plan.first <= memory; });
    return end == plans_.begin() ? std::nullopt : std::optional(std::prev(end)->second);
  }

 private:
  std::vector<std::pair<Bytes, Seconds>> plans_;  // by need, with the best step up to there
};

struct TightCounts {
  std::int64_t searches = 0;
  std::int64_t plans = 0;
  std::int64_t feasible = 0;
  std::int64_t differences = 0;
  std::int64_t in_pairs = 0;  // whose best plan hides exchanges in pairs
};

// Searches the seed's instance with several memories and tells `report` of every difference from the twin.
template <class Report>
TightCounts tight_differences(unsigned seed, std::int64_t most_plans, int memories,
                              const std::vector<std::string>& without, Report report,
                              std::optional<Schedule> only = std::nullopt) {
  TightCounts counts;
  Instance instance = tight_instance(seed, most_plans, only);
  instance.options.without = without;
  draw_states(seed, 4 * most_plans, instance);
  const TightTwin twin(instance);
  counts.plans = static_cast<std::int64_t>(twin.plans());
  if (twin.plans() == 0) return counts;
  Dice dice(seed);
  for (int i = 0; i < memories; ++i) {
    ClusterParts parts = instance.inputs.cluster.parts();
    parts.accelerator.memory = twin.some_memory(dice);
    const auto best = twin.best(parts.accelerator.memory);
    instance.inputs.cluster = Cluster(std::move(parts));
    const SearchResult found = ask({instance.inputs, instance.training, instance.space, instance.options});
    ++counts.searches;
    counts.feasible += best ? 1 : 0;
    if (!found.plans.empty()) {
      const Parallelism& p = found.plans.front().parallelism;
      counts.in_pairs += hides_in_pairs(p.schedule, p.strategy) ? 1 : 0;
    }
    const bool agree = found.plans.empty()
                           ? !best && found.status == PlanStatus::infeasible
                           : best && found.status == PlanStatus::optimal &&
                                 same_time(found.plans.front().predicted->step, *best) &&
                                 (found.lower_bound <= *best || same_time(found.lower_bound, *best));
    if (agree) continue;
    ++counts.differences;
    report("tight seed " + std::to_string(seed) + "\n" + text_of(instance) + spell_states(instance.space) +
           "\n" + "the twin finds " + (best ? std::to_string(best->value) + " s" : "nothing") +
           ", the search " + std::string(name_of(found.status)) + ", bound " +
           std::to_string(found.lower_bound.value) + " s " +
           (found.plans.empty() ? found.reason
                                : std::to_string(found.plans.front().predicted->step.value) + " s\n  " +
                                      in_words(found.plans.front())));
  }
  return counts;
}

}  // namespace nest::test
