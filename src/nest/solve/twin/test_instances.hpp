// Random small instances for proofs of the search: inputs, a training run and a space of plans that the
// exhaustive twin can go through. The seed is all that a test has to print.
//
//   const Instance instance = random_instance(seed, 2'000);
//   brute_force(instance.inputs, instance.training, instance.space, instance.options, 2'000)
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nest/price/price.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/twin/brute_force.hpp"
#include "nest/solve/twin/test_contexts.hpp"
#include "nest/solve/twin/test_exchanges.hpp"
#include "nest/solve/twin/test_inputs.hpp"
#include "nest/solve/twin/test_resharding.hpp"

namespace nest::test {
using namespace solve;

struct Instance {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
  SearchOptions options;
  std::string text;  // all of it, for the message of a failure
};

template <class T, class Word>
[[nodiscard]] std::string spell_list(const std::vector<T>& list, Word word) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ",") + std::string(word(item));
  return text.empty() ? "any" : text;
}

[[nodiscard]] inline std::string spell(const SearchSpace& s) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (value != "any") text += (text.empty() ? "" : "; ") + std::string(name) + " " + value;
  };
  const auto yes = [](bool b) { return b ? "on" : "off"; };
  add("micro_batch", s.micro_batch.spell());
  add("tensor", s.tensor.spell());
  add("context", s.context.spell());
  add("expert", s.expert.spell());
  add("expert_tensor", s.expert_tensor.spell());
  add("pipeline", s.pipeline.spell());
  add("data", s.data.spell());
  add("data_inner", s.data_inner.spell());
  add("block_devices", s.block_devices.spell());
  add("zero", s.zero.spell());
  add("zero_shards", s.zero_shards.spell());
  add("reshard", spell_list(s.reshardings, [](const Resharding& r) { return spell(r); }));
  add("interleave", s.interleave.spell());
  add("sequence_parallel", spell_list(s.sequence_parallel, yes));
  add("context_methods", spell_list(s.context_methods, [](ContextMethod m) { return name_of(m); }));
  add("context_inner", s.context_inner.spell());
  add("dispatchers", spell_list(s.dispatchers, [](Dispatcher d) { return name_of(d); }));
  add("expert_overlap", spell_list(s.expert_overlap, yes));
  add("schedules", spell_list(s.schedules, [](Schedule m) { return name_of(m); }));
  add("first_stage_first", spell_list(s.first_stage_first, yes));
  add("recompute", spell_list(s.recompute, [](const Recompute& r) { return spell(r); }));
  if (s.same_recompute) add("same_recompute", "on");
  if (!s.module_sets) add("module_sets", "off");
  if (s.mixed) add("mixed", "on");
  if (s.rules != nullptr) add("rules", std::string(s.rules->name));
  return text.empty() ? "all open" : text;
}

// One or two of the numbers, or a range between two of them.
[[nodiscard]] inline Choice some_of(Dice& dice, const std::vector<std::int64_t>& numbers) {
  const std::int64_t a = dice.one_of(numbers);
  const std::int64_t b = dice.one_of(numbers);
  if (a == b || dice.once_in(2)) return Choice(a);
  const auto [least, most] = std::minmax(a, b);
  if (dice.once_in(3)) return Choice({{least, most}});
  return Choice({{least, least}, {most, most}});
}

// Narrows one choice after another, in a random order.
class Pins {
 public:
  Pins(Dice& dice, const PlanInputs& inputs) : dice_(&dice), profile_(inputs.profile()) {
    for (int i = 0; i < kPins; ++i) order_.push_back(i);
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1],
                order_[static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(i) - 1))]);
  }

  [[nodiscard]] bool any_left() const { return !order_.empty(); }
  void pin_next(SearchSpace& s) {
    const int pin = order_.back();
    order_.pop_back();
    apply(pin, s);
  }
  // A space that is small for certain.
  void pin_rest(SearchSpace& s) const {
    s = {};
    s.pipeline = s.data = s.interleave = s.context = s.expert = Choice(1);
    if (profile_ == nullptr) s.micro_batch = Choice(1);
    s.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  }

 private:
  static constexpr int kPins = 16;

  std::vector<std::int64_t> own(std::int64_t ProfileStrategy::* degree,
                                std::vector<std::int64_t> usual) const {
    if (profile_ == nullptr) return usual;
    std::vector<std::int64_t> list;
    list.reserve(profile_->strategies.size());
    for (const ProfileStrategy& s : profile_->strategies) list.push_back(s.*degree);
    return list;
  }

  void apply(int pin, SearchSpace& s) {
    Dice& dice = *dice_;
    if (s.mixed && pin < 2 && !dice.once_in(4)) return;  // it would leave one strategy
    switch (pin) {
      case 0:
        s.tensor = some_of(dice, own(&ProfileStrategy::tensor, {1, 2, 4}));
        break;
      case 1:
        s.context = some_of(dice, own(&ProfileStrategy::context, {1, 1, 2}));
        break;
      case 2:
        s.expert = some_of(dice, own(&ProfileStrategy::expert, {1, 1, 1, 2}));
        break;
      case 3:
        if (profile_ == nullptr || dice.once_in(4)) s.expert_tensor = some_of(dice, {1, 1, 2, 4});
        break;
      case 4:
        s.pipeline = some_of(dice, {1, 2, 2, 3, 3, 4, 4, 6, 8});
        break;
      case 5:
        s.data = some_of(dice, {1, 1, 2, 2, 3, 4, 6, 8});
        break;
      case 6:
        s.data_inner = some_of(dice, {1, 1, 2, 4});
        break;
      case 7:
        s.block_devices = some_of(dice, {2, 4, 6, 8, 16});
        break;
      case 8:
        s.zero = some_of(dice, {0, 0, 1, 2, 3});
        break;
      case 9:
        s.zero_shards = some_of(dice, {1, 2, 4});
        break;
      case 10:
        s.interleave = some_of(dice, {1, 1, 2, 3});
        break;
      case 11:
        s.schedules = {dice.one_of<Schedule>({Schedule::one_f_one_b, Schedule::one_f_one_b, Schedule::gpipe,
                                              Schedule::zb_h1, Schedule::interleaved})};
        break;
      case 12:
        s.first_stage_first = {dice.once_in(2)};
        break;
      case 13:
        pin_recompute(s);
        break;
      case 14:
        s.same_recompute = true;
        break;
      default:
        if (profile_ == nullptr || dice.once_in(4)) s.micro_batch = some_of(dice, {1, 1, 2, 4});
    }
  }

  void pin_recompute(SearchSpace& s) {
    const auto one = [&] {
      const auto policy = dice_->one_of<RecomputePolicy>(
          {RecomputePolicy::none, RecomputePolicy::full, RecomputePolicy::full, RecomputePolicy::selective,
           RecomputePolicy::modules, RecomputePolicy::modules});
      const bool inside = policy == RecomputePolicy::selective || policy == RecomputePolicy::modules;
      if (inside && profile_ != nullptr) return Recompute{};
      // Any set, whether the model has such modules or not; 0 for those that are worth it.
      if (policy == RecomputePolicy::modules)
        return Recompute{policy, 0,
                         RecomputeModules::of_bits(static_cast<std::uint32_t>(
                             dice_->once_in(3) ? 0 : dice_->pick(1, (1 << kMostModules) - 1)))};
      const bool part = policy == RecomputePolicy::full && dice_->once_in(3);
      return Recompute{policy, part ? dice_->pick(1, 3) : 0};
    };
    s.recompute = {one()};
    const Recompute other = one();
    if (!(other == s.recompute.front())) s.recompute.push_back(other);
  }

  Dice* dice_;
  const LayerProfile* profile_;
  std::vector<int> order_;
};

// Whether two strategies of a profile can stand side by side.
[[nodiscard]] inline bool can_mix(const LayerProfile& profile) {
  const auto strategy = [](const ProfileStrategy& s) {
    return Strategy{.tensor = s.tensor, .context = s.context, .expert = s.expert};
  };
  const auto& all = profile.strategies;
  return std::any_of(all.begin() + 1, all.end(), [&](const ProfileStrategy& s) {
    return strategy(s).cell() == strategy(all.front()).cell() &&
           strategy(s).side() == strategy(all.front()).side();
  });
}

// What is open or asked for before anything is narrowed.
[[nodiscard]] inline SearchSpace wide_space(Dice& dice, const PlanInputs& inputs) {
  SearchSpace s;
  const bool mixes = inputs.profile() != nullptr && can_mix(*inputs.profile());
  s.mixed = dice.once_in(mixes ? 1 : 6);
  s.same_recompute = dice.once_in(4);
  if (dice.once_in(4)) s.sequence_parallel = {true, false};
  if (dice.once_in(3)) s.context_methods = {ContextMethod::ring, ContextMethod::all_to_all};
  if (dice.once_in(4)) s.context = *read_choice("1,2");
  if (dice.once_in(3)) {
    s.schedules = {Schedule::one_f_one_b, Schedule::gpipe, Schedule::interleaved, Schedule::zb_h1};
    s.schedules.erase(s.schedules.begin() + dice.pick(0, 3));
  }
  if (dice.once_in(8)) s.rules = &all_framework_rules()[static_cast<std::size_t>(dice.pick(0, 2))];
  return s;
}

// Model, cluster and recipe share one scale of bytes, so that communication takes from a thousandth of the
// compute to a thousand times as long. Memory has no end yet.
// `architecture`: of a model, not of a layer profile, whatever the dice say.
[[nodiscard]] inline PlanInputs random_small_inputs(Dice& dice, bool architecture = false) {
  architecture = dice.once_in(5) || architecture;
  ClusterWish wish;
  wish.memory = Bytes{1'000'000'000'000'000};
  wish.most_devices = dice.one_of<std::int64_t>({4, 8, 12, 16, 16});
  wish.bandwidth = architecture ? log_pick(dice, 7, 12) : log_pick(dice, 9, 11.5);
  const std::int64_t layers = dice.once_in(8) ? dice.pick(1, 3) : dice.pick(3, 8);
  const double bytes = 1e-3 * wish.bandwidth * log_pick(dice, -3, 3);
  // From a copy: what is drawn after this stays as it was before there were hybrids.
  Dice more = dice;
  Value model = architecture ? random_architecture(dice) : random_layer_profile(dice, layers, bytes);
  std::int64_t experts = 1;
  if (architecture && more.once_in(3)) model = hybrid_architecture(more, more.pick(2, 6), experts);
  Warnings warnings;
  const Document text = parse_json("model", to_json(model));
  ModelSource source = architecture ? ModelSource(read_hub_config(text, "tiny", warnings))
                                    : ModelSource(read_layer_profile(text));
  Cluster cluster = random_small_cluster(dice, wish);
  return {std::move(model), std::move(source), std::move(cluster),
          random_recipe(dice, Bytes{static_cast<std::int64_t>(10 * bytes)})};
}

// Memory that all plans of the space fit in, or some, or none.
inline void set_memory(Dice& dice, Instance& instance) {
  Pricer pricer(instance.inputs);
  PricedPlan priced;
  std::vector<Bytes> needs;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    Bytes most;
    for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total());
    if (!priced.stages.empty()) needs.push_back(most);
    return needs.size() < 2000;
  });
  if (needs.empty()) return;
  std::sort(needs.begin(), needs.end());
  const auto last = static_cast<std::int64_t>(needs.size()) - 1;
  std::int64_t memory = needs[static_cast<std::size_t>(dice.pick(0, last))].value;
  if (dice.once_in(3)) memory = needs[static_cast<std::size_t>(dice.pick(0, last / 20))].value;
  if (dice.once_in(4)) memory = 2 * needs.back().value;
  if (dice.once_in(10)) memory = needs.front().value - 1;
  ClusterParts parts = instance.inputs.cluster.parts();
  parts.accelerator.memory = Bytes{std::max<std::int64_t>(1, memory)};
  instance.inputs.cluster = Cluster(std::move(parts));
}

// Some tokens per second that some plans of the space reach and others do not.
[[nodiscard]] inline double random_target(Dice& dice, const Instance& instance) {
  Pricer pricer(instance.inputs, instance.options.price_options());
  PricedPlan priced;
  double tokens = 1;
  std::int64_t left = dice.pick(1, 40);
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    if (priced.status == PriceStatus::feasible) tokens = priced.predicted.tokens_per_s;
    return --left > 0;
  });
  return tokens * dice.one_of<double>({0.5, 0.999, 1.001, 1.5, 3});
}

[[nodiscard]] inline std::string text_of(const Instance& instance) {
  const Training& t = instance.training;
  const SearchOptions& o = instance.options;
  std::string text = "global batch " + std::to_string(t.global_batch) + " of " + std::to_string(t.sequence) +
                     " tokens" + beside_tokens(t.contents) + (t.mtp ? ", multi-token prediction, " : ", ") +
                     std::string(name_of(t.precision)) + ", " + std::string(name_of(t.optimizer)) +
                     ", trained " + spell_train(t.tuning) + ", frozen " + spell_freeze(t.tuning) + " in " +
                     std::to_string(t.tuning.frozen_bits) + " bits\nspace: " + spell(instance.space) +
                     "\npipeline model " + std::string(name_of(o.pipeline_model));
  if (o.objective == Objective::devices)
    text += ", fewest devices for " + std::to_string(o.target_tokens_per_s) + " tokens/s";
  if (o.memory_margin > 0) text += ", margin " + std::to_string(o.memory_margin) + " of memory";
  if (o.objective == Objective::cost) text += ", lowest cost";
  return text + "\n" + to_json_line(to_value(instance.inputs)) + "\n";
}

// How large the space of a seed's instance may be: mostly small, some of every size.
[[nodiscard]] inline std::int64_t usual_most_plans(unsigned seed) {
  if (seed % 100 == 0) return 50'000;
  if (seed % 10 == 0) return 10'000;
  return seed % 2 == 0 ? 2'000 : 300;
}

// Documents of a few lengths, of dice of their own: the other draws stay as they are without them.
inline void draw_lengths(unsigned seed, Instance& made) {
  Dice dice(seed + 2'000'081);
  const auto* spec = std::get_if<ModelSpec>(&made.inputs.source);
  if (spec == nullptr || spec->stacks.size() > 1 || !dice.once_in(3)) return;
  std::vector<LengthCount> lengths;
  for (std::int64_t i = dice.pick(1, 4); i > 0; --i)
    lengths.push_back({dice.pick(1, 2 * made.training.sequence), dice.pick(1, 50)});
  made.training.contents.lengths = std::make_shared<const Lengths>(std::move(lengths));
  made.inputs.recipe.split_documents = dice.once_in(3);
}

// Modules for multi-token prediction, of which hybrids have some.
inline void draw_mtp(unsigned seed, Instance& made) {
  Dice dice(seed + 4'000'037);
  const auto* spec = std::get_if<ModelSpec>(&made.inputs.source);
  made.training.mtp = spec != nullptr && spec->mtp_layers > 0 && !dice.once_in(4);
}

// With `hybrids` of a model whose space has hybrid context parallelism, unless a pin takes it out again.
[[nodiscard]] inline Instance random_instance(unsigned seed, std::int64_t most_plans, bool hybrids = false) {
  Dice dice(seed);
  Instance made{random_small_inputs(dice, hybrids), {}, {}, {}, {}};
  made.space = wide_space(dice, made.inputs);
  draw_exchanges(seed, made.inputs, made.space);
  draw_hybrid(seed, made.inputs, made.space, hybrids);
  draw_resharding(seed, made.inputs, made.space);
  Dice schedules(seed + 4'000'037);
  if (schedules.once_in(6)) {
    if (made.space.schedules.empty()) made.space.schedules = default_schedules();
    made.space.schedules.push_back(schedules.one_of<Schedule>({Schedule::zb_v, Schedule::dualpipe_v}));
  }
  Training& t = made.training;
  t.sequence = made.inputs.profile() != nullptr ? made.inputs.default_sequence()
                                                : dice.one_of<std::int64_t>({128, 1024, 4096, 16'384});
  t.global_batch = dice.one_of<std::int64_t>({1, 2, 4, 6, 8, 8, 12, 16, 24, 48});
  if (made.inputs.profile() != nullptr) t.global_batch *= made.inputs.profile()->micro_batch;
  t.optimizer = dice.once_in(6) ? Optimizer::sgd : made.inputs.recipe.optimizer;
  if (made.inputs.cluster.computes(MathType::fp8) && dice.once_in(8)) t.precision = Precision::fp8;
  draw_lengths(seed, made);
  draw_mtp(seed, made);
  Dice tunings(seed + 3'000'017);
  if (made.inputs.profile() == nullptr && tunings.once_in(2))
    t.tuning = random_tuning(tunings, std::get<ModelSpec>(made.inputs.source));
  made.options.threads = 1;
  made.options.pipeline_model = dice.one_of<PipelineModel>(
      {PipelineModel::one_f_one_b, PipelineModel::one_f_one_b, PipelineModel::one_f_one_b,
       PipelineModel::one_f_one_b, PipelineModel::sum_max, PipelineModel::paper});
  Pins pins(dice, made.inputs);
  const auto plans = [&] { return count_plans(made.inputs, t, made.space, most_plans); };
  std::int64_t count = plans();
  for (std::int64_t more = dice.pick(0, 4); pins.any_left() && (count > most_plans || more > 0); --more) {
    SearchSpace before = made.space;
    pins.pin_next(made.space);
    const std::int64_t left = plans();
    // Now and then a space without a plan.
    if (left == 0 && !dice.once_in(40)) {
      made.space = std::move(before);
    } else {
      count = left;
    }
  }
  if (count > most_plans) pins.pin_rest(made.space);
  set_memory(dice, made);
  // A margin of its own dice: the other draws stay as they were.
  Dice margins(seed + 2'000'003);
  if (margins.once_in(3)) {
    made.options.memory_margin = static_cast<double>(margins.pick(1, 30)) / 100;
    ClusterParts parts = made.inputs.cluster.parts();
    const auto memory = static_cast<double>(parts.accelerator.memory.value);
    parts.accelerator.memory = Bytes{static_cast<std::int64_t>(memory / (1 - made.options.memory_margin))};
    if (!margins.once_in(4)) made.inputs.cluster = Cluster(std::move(parts));
  }
  if (dice.once_in(8)) {
    made.options.objective = Objective::devices;
    made.options.target_tokens_per_s = random_target(dice, made);
  }
  Dice money(seed + 2'000'029);
  if (made.options.objective == Objective::step_time && money.once_in(8))
    made.options.objective = Objective::cost;
  made.text =
      "seed " + std::to_string(seed) + ", at most " + std::to_string(most_plans) + " plans\n" + text_of(made);
  return made;
}

}  // namespace nest::test
