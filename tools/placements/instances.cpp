#include "instances.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/price/price.hpp"
#include "nest/solve/twin/all_cuts.hpp"
#include "nest/solve/twin/brute_force.hpp"

namespace nest::tools::study {
namespace {

using test::Dice;

Cluster small_cluster(Dice& dice, const std::string& kind, double bandwidth) {
  for (;;) {
    test::ClusterWish wish;
    wish.kind = kind;
    wish.bandwidth = bandwidth;
    wish.most_devices = dice.one_of<std::int64_t>({4, 5, 6, 6, 7, 8});
    wish.memory = Bytes{1'000'000'000'000'000};
    Cluster cluster = test::random_small_cluster(dice, wish);
    if (cluster.devices() >= 3) return cluster.sorted();
  }
}

constexpr std::int64_t kHidden = 1024;
constexpr std::int64_t kSequence = 2048;

Value tiny_model(Dice& dice) {
  Value v = Value::object();
  v.set("model_type", "llama").set("_name_or_path", "tiny").set("vocab_size", 4096);
  v.set("hidden_size", kHidden).set("intermediate_size", 3 * kHidden);
  v.set("num_hidden_layers", dice.pick(2, 3)).set("num_attention_heads", 8).set("num_key_value_heads", 8);
  v.set("head_dim", 64).set("max_position_embeddings", 4096).set("tie_word_embeddings", dice.once_in(2));
  return v;
}

// One boundary takes `ratio` times a layer's millisecond.
PlanInputs profile_inputs(Dice& dice, const std::string& kind, double ratio, Recipe recipe) {
  constexpr double kBandwidth = 1e11;
  Value model = test::random_layer_profile(dice, dice.pick(2, 5), 1e-3 * kBandwidth * ratio);
  ModelSource source = read_layer_profile(parse_json("model", to_json(model)));
  Cluster cluster = small_cluster(dice, kind, kBandwidth);
  return {std::move(model), std::move(source), std::move(cluster), std::move(recipe)};
}

// One boundary takes `ratio` times a block's forward pass on the accelerator at hand, which a plan of one
// device tells.
PlanInputs model_inputs(Dice& dice, const std::string& kind, double ratio, Recipe recipe) {
  Value model = tiny_model(dice);
  Warnings warnings;
  ModelSource source = read_hub_config(parse_json("model", to_json(model)), "tiny", warnings);
  const auto blocks = static_cast<double>(std::get<ModelSpec>(source).stacks.front().blocks.size());
  Cluster cluster = small_cluster(dice, kind, 1);
  PlanInputs inputs{std::move(model), std::move(source), std::move(cluster), std::move(recipe)};
  Pricer pricer(inputs);
  Plan plan;
  plan.training.sequence = kSequence;
  plan.training.global_batch = 1;
  const PricedPlan priced = pricer.price(pricer.complete(std::move(plan)));
  const double block = priced.stages.front().chunks.front().forward.value / blocks;
  const double bandwidth = static_cast<double>(2 * kHidden * kSequence) / (ratio * block);
  ClusterParts parts = inputs.cluster.parts();
  for (Level& level : parts.levels) level.bandwidth.value *= bandwidth;
  inputs.cluster = Cluster(std::move(parts));
  return inputs;
}

Cluster node_cluster(Dice& dice, bool uneven) {
  const std::int64_t node = dice.one_of<std::int64_t>({4, 4, 8});
  const std::int64_t nodes = dice.one_of<std::int64_t>(node == 4 ? std::vector<std::int64_t>{2, 3, 4, 4, 6}
                                                                 : std::vector<std::int64_t>{2, 3, 4});
  const bool racks = nodes % 2 == 0 && nodes > 2 && dice.once_in(2);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(nodes), node);
  for (std::int64_t i = uneven ? dice.pick(1, 2) : 0; i > 0; --i)
    sizes[static_cast<std::size_t>(dice.pick(0, nodes - 1))] = node - dice.pick(1, 2);
  std::string text = "name: nodes\naccelerator: h100-sxm\nlevels:\n  - {name: node, kind: switch, ";
  text += uneven ? "sizes: " + test::in_brackets(sizes) : "size: " + std::to_string(node);
  text += ", bandwidth: 450 GB/s, latency: 1 us}\n";
  if (racks) text += "  - {name: rack, kind: switch, size: 2, bandwidth: 50 GB/s, latency: 5 us}\n";
  text += "  - {name: spine, kind: switch, size: " + std::to_string(racks ? nodes / 2 : nodes);
  text += ", bandwidth: 50 GB/s, latency: 10 us, oversubscription: ";
  text += std::to_string(dice.one_of<std::int64_t>({1, 1, 2, 4})) + "}\n";
  ClusterParts parts = read_cluster(parse_yaml("cluster", text)).parts();
  const double slower = test::log_pick(dice, -1.5, 1);
  for (Level& level : parts.levels) level.bandwidth.value /= slower;
  return Cluster(std::move(parts)).sorted();
}

Value node_model(Dice& dice) {
  constexpr std::int64_t kWide = 2 * kHidden;
  Value v = Value::object();
  v.set("model_type", "llama").set("_name_or_path", "small").set("vocab_size", 8192);
  v.set("hidden_size", kWide).set("intermediate_size", 3 * kWide);
  v.set("num_hidden_layers", dice.pick(4, 8)).set("num_attention_heads", 16).set("num_key_value_heads", 8);
  v.set("head_dim", 128).set("max_position_embeddings", 4096).set("tie_word_embeddings", dice.once_in(2));
  return v;
}

}  // namespace

Setting node_setting(Dice& dice, bool uneven) {
  Cluster cluster = node_cluster(dice, uneven);
  Value model = node_model(dice);
  Warnings warnings;
  ModelSource source = read_hub_config(parse_json("model", to_json(model)), "small", warnings);
  Recipe recipe = named_recipe(dice.one_of<std::string>({"plain", "megatron"}));
  Setting made{{std::move(model), std::move(source), std::move(cluster), std::move(recipe)}, {}, {}};
  made.training.sequence = kSequence;
  made.training.global_batch = dice.one_of<std::int64_t>({24, 32, 48, 60, 64, 96});
  made.training.optimizer = made.inputs.recipe.optimizer;
  made.space.micro_batch = Choice(1);
  made.space.tensor = *read_choice(dice.one_of<std::string>({"1,2,4", "2,4", "1,3", "2,4,8"}));
  // Models that need a pipeline for their memory.
  made.space.pipeline = *read_choice(dice.one_of<std::string>({"1..8", "2..8", "3..8"}));
  made.space.zero = Choice(0);
  made.space.schedules = {Schedule::one_f_one_b};
  made.space.recompute = {{RecomputePolicy::none, 0}};
  return made;
}

Setting random_setting(Dice& dice, const std::string& kind, std::int64_t power) {
  const double ratio = std::pow(10, -static_cast<double>(power));
  Recipe recipe = named_recipe(dice.one_of<std::string>({"plain", "megatron"}));
  Setting made{dice.once_in(2) ? profile_inputs(dice, kind, ratio, std::move(recipe))
                               : model_inputs(dice, kind, ratio, std::move(recipe)),
               {},
               {}};
  const LayerProfile* profile = made.inputs.profile();
  made.training.sequence = profile != nullptr ? profile->sequence : kSequence;
  made.training.global_batch = dice.one_of<std::int64_t>({4, 8, 8, 12, 16});
  if (profile != nullptr) made.training.global_batch *= profile->micro_batch;
  made.training.optimizer = made.inputs.recipe.optimizer;
  if (profile == nullptr) made.space.micro_batch = Choice(1);
  made.space.tensor = *read_choice("1,2,4");
  made.space.zero = Choice(0);
  made.space.schedules = {Schedule::one_f_one_b};
  made.space.recompute = {{RecomputePolicy::none, 0}};
  return made;
}

std::vector<std::vector<Plan>> plans_by_degrees(const Setting& setting) {
  std::vector<Plan> leads;  // one for each strategy
  SearchSpace one = setting.space;
  one.pipeline = Choice(1);
  one.data_inner = Choice(1);
  for_each_plan(setting.inputs, setting.training, one, [&](const Plan& plan) {
    const bool known = std::any_of(leads.begin(), leads.end(), [&](const Plan& lead) {
      return lead.parallelism.strategy == plan.parallelism.strategy;
    });
    if (!known) leads.push_back(plan);
    return true;
  });
  std::vector<std::vector<Plan>> all;
  const LayerGraph graph = setting.inputs.profile() != nullptr
                               ? LayerGraph(*setting.inputs.profile())
                               : LayerGraph(build_model(std::get<ModelSpec>(setting.inputs.source)));
  for (Plan& lead : leads) {
    Parallelism& p = lead.parallelism;
    Training& t = lead.training;
    const std::int64_t devices = setting.inputs.cluster.devices() / p.strategy.cell();
    const Strategy strategy = p.strategy;
    for (std::int64_t stages = 1; stages <= static_cast<std::int64_t>(graph.layers()); ++stages) {
      for (std::int64_t copies = 1; copies * stages <= devices; ++copies) {
        p.data = strategy.side() * copies;
        if (t.global_batch % (t.micro_batch * p.data) != 0) continue;
        t.micro_batches = t.global_batch / (t.micro_batch * p.data);
        p.pipeline = stages;
        p.data_inner = copies;
        p.block_devices = 0;
        std::vector<Plan>& group = all.emplace_back();
        for (const CutParts& cut : all_cuts(graph, static_cast<std::size_t>(stages), 10'000)) {
          lead.stages.assign(cut.size(), {});
          for (std::size_t i = 0; i < cut.size(); ++i) {
            lead.stages[i].layers = cut[i];
            lead.stages[i].strategy = strategy;
          }
          group.push_back(lead);
        }
      }
    }
  }
  return all;
}

ClusterForm form_of(const Cluster& cluster) {
  bool even = true;
  double inside = 0;  // of the next level inside that joins anything
  for (const Level& level : cluster.levels()) {
    even = even && level.fan_out.uniform();
    if (level.fan_out.uniform() && level.fan_out.size == 1) continue;
    const double bandwidth = level.bandwidth.value / level.oversubscription;
    if (inside > 0 && bandwidth > inside) return ClusterForm::faster_outside;
    inside = bandwidth;
  }
  return even ? ClusterForm::even : ClusterForm::uneven;
}

}  // namespace nest::tools::study
