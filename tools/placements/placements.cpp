// What the placement rule gives away: nest_placements [COUNT] [FIRST_SEED]. On COUNT random instances of up
// to 8 devices for each ratio of compute to communication and each kind of cluster (20 where nothing is
// said), the best plan of the rule (all stages, copies, cuts, inner copies, blocks and directions) against
// the best plan with any assignment of devices to cells. One strategy, ZeRO 0, 1F1B. Prints tables for the
// manual:
//
//   | compute : communication | switch | ring | ...
//   | 10 : 1 | 10 %: 0.92 %, at most 17 % | ...
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nest/plan/price.hpp"
#include "nest/solve/all_cuts.hpp"
#include "nest/solve/brute_force.hpp"
#include "nest/solve/test_inputs.hpp"

namespace {

using namespace nest;
using test::Dice;

constexpr std::array<std::int64_t, 7> kRatios{-3, -2, -1, 0, 1, 2, 3};  // powers of ten: compute
const std::vector<std::string> kKinds{"switch", "ring", "mesh", "torus", "fully_connected", ""};
constexpr double kNoise = 1e-9;

struct Outcome {
  std::size_t ratio = 0;
  std::size_t kind = 0;
  double gain = 0;           // share of the rule's step that the best placement saves
  double communication = 0;  // share of the rule's step
  bool usual = true;         // the cluster: even domains, no level faster than one inside it
};

struct Setting {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
};

Cluster small_cluster(Dice& dice, const std::string& kind, double bandwidth) {
  for (;;) {
    test::ClusterWish wish;
    wish.kind = kind;
    wish.bandwidth = bandwidth;
    wish.most_devices = dice.one_of<std::int64_t>({4, 5, 6, 6, 7, 8});
    wish.memory = Bytes{1'000'000'000'000'000};
    Cluster cluster = test::random_small_cluster(dice, wish);
    if (cluster.devices() >= 3) return cluster;
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

// The lowest price of plans with the same degrees over all assignments of devices to cells.
class AllPlacements {
 public:
  AllPlacements(Pricer& pricer, std::vector<Plan> plans) : pricer_(&pricer), plans_(std::move(plans)) {
    const Parallelism& p = plans_.front().parallelism;
    stages_ = static_cast<std::size_t>(p.pipeline);
    copies_ = static_cast<std::size_t>(p.copies());
    cell_ = static_cast<std::size_t>(p.strategy.cell());
    lanes_alike_ = p.strategy.context == 1 && p.strategy.cell() == p.strategy.tensor;
    used_.assign(static_cast<std::size_t>(pricer.inputs().cluster.devices()), false);
    devices_.assign(stages_, std::vector<Cell>(copies_, Cell(cell_)));
  }

  [[nodiscard]] Seconds best() {
    assign(0);
    return best_;
  }

 private:
  void assign(std::size_t at) {
    if (at == stages_ * copies_ * cell_) return price();
    const std::size_t stage = at / (copies_ * cell_);
    const std::size_t copy = at / cell_ % copies_;
    const std::size_t lane = at % cell_;
    std::size_t from = 0;
    // Copies can change places, and so can tensor ranks.
    if (stage == 0 && lane == 0 && copy > 0) from = devices_[0][copy - 1][0].index() + 1;
    if (stage == 0 && copy == 0 && lane > 0 && lanes_alike_) from = devices_[0][0][lane - 1].index() + 1;
    for (std::size_t d = from; d < used_.size(); ++d) {
      if (used_[d]) continue;
      used_[d] = true;
      devices_[stage][copy][lane] = DeviceId(static_cast<std::int32_t>(d));
      assign(at + 1);
      used_[d] = false;
    }
  }

  void price() {
    for (Plan& plan : plans_) {
      for (std::size_t i = 0; i < stages_; ++i) plan.stages[i].devices = devices_[i];
      pricer_->price(plan, priced_);
      if (priced_.status == PriceStatus::feasible && (best_.value == 0 || priced_.predicted.step < best_))
        best_ = priced_.predicted.step;
    }
  }

  Pricer* pricer_;
  std::vector<Plan> plans_;
  std::size_t stages_ = 1;
  std::size_t copies_ = 1;
  std::size_t cell_ = 1;
  bool lanes_alike_ = false;
  std::vector<bool> used_;
  std::vector<std::vector<Cell>> devices_;
  PricedPlan priced_;
  Seconds best_;
};

// Plans of the space by their degrees, each cut once, whether the rule finds a place for them or not.
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

bool is_usual(const Cluster& cluster) {
  const std::vector<Level>& levels = cluster.levels();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!levels[i].fan_out.uniform()) return false;
    if (i > 0 && levels[i].fan_out.size > 1 && levels[i].bandwidth > levels[i - 1].bandwidth) return false;
  }
  return true;
}

std::optional<Outcome> compare(unsigned seed, std::size_t ratio, std::size_t kind) {
  Dice dice(seed);
  const Setting setting = random_setting(dice, kKinds[kind], kRatios[ratio]);
  const BruteForceResult rule = brute_force(setting.inputs, setting.training, setting.space, {}, 1'000'000);
  if (!rule.best || !rule.complete || rule.step->value <= 0) return std::nullopt;
  Pricer pricer(setting.inputs);
  Seconds best = *rule.step;
  for (std::vector<Plan>& plans : plans_by_degrees(setting)) {
    const Seconds found = AllPlacements(pricer, std::move(plans)).best();
    if (found.value > 0) best = std::min(best, found);
  }
  const Breakdown& b = rule.best->predicted->breakdown;
  const Seconds talk = b.tensor + b.expert + b.context + b.pipeline + b.data + b.zero;
  return Outcome{ratio, kind, (*rule.step - best).value / rule.step->value, talk.value / rule.step->value,
                 is_usual(setting.inputs.cluster)};
}

// How often, and by how much where it is so.
struct Summary {
  std::size_t count = 0;
  std::size_t better = 0;
  double mean = 0;  // over all
  double most = 0;
};

template <class Take>
Summary summary(const std::vector<Outcome>& outcomes, Take take) {
  Summary s;
  for (const Outcome& o : outcomes) {
    if (!take(o)) continue;
    ++s.count;
    s.better += o.gain > kNoise ? 1 : 0;
    s.mean += std::max(0.0, o.gain);
    s.most = std::max(s.most, o.gain);
  }
  if (s.count > 0) s.mean /= static_cast<double>(s.count);
  return s;
}

std::string percent(double share) {
  return fmt::format("{:.2g} %", 100 * share);
}

std::string cell_of(const Summary& s) {
  if (s.count == 0) return "-";
  if (s.better == 0) return "never";
  const double often = static_cast<double>(s.better) / static_cast<double>(s.count);
  return fmt::format("{:.0f} %: {}, at most {}", 100 * often, percent(s.mean), percent(s.most));
}

std::string kind_name(std::size_t kind) {
  return kKinds[kind].empty() ? "levels of several kinds" : kKinds[kind];
}

void print_tables(const std::vector<Outcome>& all) {
  fmt::print(
      "How often another placement is better: the mean gain over all instances, the largest gain.\n\n");
  std::string rule = "| --- |";
  fmt::print("| compute : communication |");
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    fmt::print(" {} |", kind_name(k));
    rule += " --- |";
  }
  fmt::print("\n{}\n", rule);
  for (std::size_t r = 0; r < kRatios.size(); ++r) {
    const auto power = [](std::int64_t n) {
      return fmt::format("{:.0f}", std::pow(10, std::max<std::int64_t>(0, n)));
    };
    fmt::print("| {} : {} |", power(kRatios[r]), power(-kRatios[r]));
    for (std::size_t k = 0; k < kKinds.size(); ++k)
      fmt::print(" {} |",
                 cell_of(summary(all, [&](const Outcome& o) { return o.ratio == r && o.kind == k; })));
    fmt::print("\n");
  }
  fmt::print(
      "\n| communication in the step of the rule's best plan | even domains, bandwidth falls outwards | "
      "uneven, or faster outwards |\n| --- | --- | --- |\n");
  const std::array<double, 5> edges{0, 0.01, 0.1, 0.3, 2};
  const std::array<const char*, 4> names{"below 1 %", "1 to 10 %", "10 to 30 %", "above 30 %"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    fmt::print("| {} |", names[i]);
    for (const bool usual : {true, false}) {
      const Summary s = summary(all, [&](const Outcome& o) {
        return o.usual == usual && o.communication >= edges[i] && o.communication < edges[i + 1];
      });
      fmt::print(" {} instances, {} |", s.count, cell_of(s));
    }
    fmt::print("\n");
  }
}

std::vector<Outcome> run(std::size_t count, unsigned first) {
  const std::size_t cases = kRatios.size() * kKinds.size();
  std::vector<std::optional<Outcome>> found(count * cases);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < found.size(); i = next++) {
      const auto seed = static_cast<unsigned>(first + i);
      found[i] = compare(seed, i % kRatios.size(), i / kRatios.size() % kKinds.size());
      if ((i + 1) % 50 == 0) fmt::print(stderr, "{} of {}\n", i + 1, found.size());
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  std::vector<Outcome> all;
  for (const auto& outcome : found) {
    if (outcome) all.push_back(*outcome);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::size_t count = argc > 1 ? std::stoul(argv[1]) : 20;
    const auto first = static_cast<unsigned>(argc > 2 ? std::stoul(argv[2]) : 1);
    print_tables(run(count, first));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nest_placements: {}\nusage: nest_placements [COUNT] [FIRST_SEED]\n", error.what());
    return 2;
  }
}
