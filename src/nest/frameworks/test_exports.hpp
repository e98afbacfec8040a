// Questions for tests of exports: plans of zoo models by hand, random plans that a framework's rules allow,
// and exports held in memory.
//
//   test::Planner planner("llama3.1-8b");
//   const ExportQuestion question = planner.question(test::degrees({.tensor = 2}, 4, 8));
//   test::exported("megatron", question).files.at("megatron_args.txt")
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/files.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"
#include "nest/plan/rules/check.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/price.hpp"

namespace nest::test {
using namespace frameworks;

struct Exported {
  ExportResult result;
  std::map<std::string, std::string> files;
};

// With NEST_KEEP_EXPORTS=DIR the files stay in DIR/TARGET-NUMBER, for a framework's own parser to read.
inline void keep(std::string_view target, const Exported& out) {
  const char* folder = std::getenv("NEST_KEEP_EXPORTS");
  if (folder == nullptr) return;
  static int number = 0;
  const std::filesystem::path own =
      std::filesystem::path(folder) / (std::string(target) + "-" + std::to_string(++number));
  for (const auto& [name, bytes] : out.files) {
    std::filesystem::create_directories((own / name).parent_path());
    write_file((own / name).string(), bytes);
  }
}

[[nodiscard]] inline Exported exported(std::string_view target, const ExportQuestion& question) {
  Exported out;
  out.result = find_exporter(target)->write(
      question, [&](const ExportFile& file) { out.files[file.name] = file.bytes; });
  keep(target, out);
  return out;
}

// A plan with open stages; `data` is Megatron's.
[[nodiscard]] inline Plan degrees(const Strategy& strategy, std::int64_t pipeline, std::int64_t data,
                                  std::int64_t micro_batches = 8) {
  Plan plan;
  plan.training = {.sequence = 2048, .micro_batch = 1, .micro_batches = micro_batches};
  plan.training.global_batch = data * micro_batches;
  plan.parallelism.strategy = strategy;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = data;
  plan.parallelism.data_inner = 0;
  return plan;
}

class Planner {
 public:
  explicit Planner(const std::string& model, const std::string& recipe = "megatron",
                   const std::string& cluster = "h100-spine-leaf")
      : inputs_(load_inputs(model, cluster, recipe, warnings_)), pricer_(inputs_), book_(inputs_) {}

  [[nodiscard]] const PlanInputs& inputs() const { return inputs_; }
  // Completed and placed.
  [[nodiscard]] ExportQuestion question(Plan plan) {
    return {pricer_.place(pricer_.complete(std::move(plan))), inputs_, {}, 0};
  }
  [[nodiscard]] std::int64_t blocks() const {
    return static_cast<std::int64_t>(std::get<ModelSpec>(inputs_.source).stacks.front().blocks.size());
  }

  // Any plan that the rules allow, of all choices that there are; none where the dice gave one that is
  // refused.
  [[nodiscard]] std::optional<ExportQuestion> random(Dice& dice, const FrameworkRules& rules) {
    Plan plan = random_degrees(dice, rules);
    const Parallelism& p = plan.parallelism;
    if (p.devices() > inputs_.cluster.devices() || p.pipeline * p.interleave > blocks() + 2)
      return std::nullopt;
    if (rules.broken({plan.training, p}) != nullptr) return std::nullopt;
    if (rules.experts_in_sequence && has_experts(inputs_) && p.strategy.tensor > 1 &&
        !p.strategy.sequence_parallel)
      return std::nullopt;
    if (p.pipeline > 1 && !rules.can_cut(inputs_)) return std::nullopt;
    if (!book_.refusal(plan.training, p.strategy).empty()) return std::nullopt;
    cut(dice, rules, plan);
    const LayerGraph& graph = book_.model(plan.training.micro_batch, plan.training).graph;
    if (check_plan(plan, graph, inputs_.cluster)) return std::nullopt;
    try {
      return question(std::move(plan));
    } catch (const InputError&) {
      return std::nullopt;  // no room
    }
  }

 private:
  [[nodiscard]] Plan random_degrees(Dice& dice, const FrameworkRules& rules) {
    using List = std::vector<std::int64_t>;
    const bool experts = std::get<ModelSpec>(inputs_.source).stacks.front().blocks.back().experts.has_value();
    Plan plan;
    Parallelism& p = plan.parallelism;
    Strategy& s = p.strategy;
    s.tensor = dice.one_of(List{1, 1, 2, 4, 8});
    s.sequence_parallel = s.tensor > 1 && rules.name != "deepspeed" && !dice.once_in(5);
    s.context = dice.one_of(List{1, 1, 1, 2, 4});
    s.context_method = dice.once_in(2) ? ContextMethod::ring : ContextMethod::all_to_all;
    if (s.context == 4 && dice.once_in(3)) {
      s.context_method = ContextMethod::hybrid;
      s.context_inner = 2;
    }
    s.expert = experts ? dice.one_of(List{1, 2, 4, 8}) : 1;
    s.expert_tensor = experts && dice.once_in(2) ? 1 : s.tensor;
    p.pipeline = dice.one_of(List{1, 1, 2, 3, 4, 5, 8});
    const std::int64_t copies = dice.one_of(List{1, 2, 3, 4, 6, 8});
    p.data = copies * s.side();
    p.data_inner = dice.divisor_of(copies);
    p.first_stage_first = dice.once_in(2);
    p.zero = dice.pick(0, 3);
    Dice more = dice;  // the other draws stay as they were before there was resharding
    if (p.zero.shards_parameters() && more.once_in(2))
      p.zero = {3, more.once_in(3) ? Resharding{Resharding::Kind::group, 2}
                                   : Resharding{Resharding::Kind::never, 0}};
    p.zero_shards = !p.zero.shards_anything() ? 1 : dice.divisor_of(copies * s.cell() / s.tensor);
    p.schedule = dice.one_of(rules.schedules);
    if (p.pipeline == 1 && schedule_of(p.schedule).chunked()) p.schedule = Schedule::one_f_one_b;
    if (schedule_of(p.schedule).pairs_passes) s.expert_overlap = s.expert > 1 && dice.once_in(2);
    p.interleave =
        p.schedule == Schedule::interleaved ? dice.pick(2, 3) : schedule_of(p.schedule).least_chunks;
    Training& t = plan.training;
    t.sequence = dice.one_of(List{512, 1024});
    t.micro_batch = dice.one_of(List{1, 2});
    t.micro_batches = dice.pick(1, 6) * (p.interleave > 1 ? p.pipeline : 1);
    if (schedule_of(p.schedule).pairs_passes) t.micro_batches += 2 * p.pipeline;
    t.global_batch = t.micro_batch * p.data * t.micro_batches;
    t.precision = dice.one_of<Precision>({Precision::bf16, Precision::bf16, Precision::fp8, Precision::fp16});
    return plan;
  }

  void cut(Dice& dice, const FrameworkRules& rules, Plan& plan) const {
    const Parallelism& p = plan.parallelism;
    const auto parts = random_cut(dice, blocks() + 2, p.pipeline * p.interleave);
    plan.stages.assign(static_cast<std::size_t>(p.pipeline), {});
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Stage& stage = plan.stages[place_of_part(p.schedule, plan.stages.size(), i).stage];
      stage.layers.insert(stage.layers.end(), parts[i].begin(), parts[i].end());
      if (p.interleave > 1) stage.chunks.push_back(parts[i]);
    }
    Recompute recompute{dice.one_of(rules.policies), 0};
    if (recompute.policy == RecomputePolicy::full && rules.allows_part(p.interleave) && dice.once_in(2))
      recompute.layers = 1;
    if (recompute.policy == RecomputePolicy::modules) recompute.modules = random_modules(dice, rules);
    if (recompute.policy == RecomputePolicy::modules && recompute.modules.empty()) recompute = {};
    if (!rules.allows(p, recompute)) recompute = {};
    for (Stage& stage : plan.stages) {
      stage.strategy = p.strategy;
      stage.recompute = recompute;
    }
    if (dice.once_in(3)) plan.stages.clear();  // the even split
    plan.default_recompute = recompute;
  }

  // None where the framework's sets are of models without experts. Core attention alone is the policy selective.
  [[nodiscard]] RecomputeModules random_modules(Dice& dice, const FrameworkRules& rules) const {
    if (rules.module_sets.empty())
      return RecomputeModules::of_bits(static_cast<std::uint32_t>(dice.pick(2, (1 << kMostModules) - 1)));
    return has_experts(inputs_) ? RecomputeModules{} : dice.one_of(rules.module_sets);
  }

  Warnings warnings_;
  PlanInputs inputs_;
  Pricer pricer_;
  CostBook book_;
};

inline const std::vector<const char*> kUsualModels{"llama3.2-1b",      "gpt2-xl",    "mixtral-8x7b",
                                                   "deepseek-v2-lite", "qwen2.5-7b", "qwen3-0.6b"};

// Calls `visit` with so many random questions for a framework or one of its releases, spread over models
// that differ in kind.
inline void for_random_questions(std::string_view framework, int count,
                                 const std::function<void(const ExportQuestion&, unsigned seed)>& visit,
                                 const std::vector<const char*>& models = kUsualModels) {
  const FrameworkRules& rules = *find_framework_rules(framework);
  std::vector<std::unique_ptr<Planner>> planners;
  planners.reserve(models.size());
  for (const char* model : models)
    planners.push_back(
        std::make_unique<Planner>(model, std::string(recipe_of(split_release(framework).framework))));
  int found = 0;
  for (unsigned seed = 1; found < count; ++seed) {
    Dice dice(seed);
    if (const auto question = planners[seed % planners.size()]->random(dice, rules)) {
      ++found;
      visit(*question, seed);
    }
  }
}

// One way to break each rule.
struct Breach {
  std::string rule;
  std::function<void(ExportQuestion&)> make;
};

}  // namespace nest::test
