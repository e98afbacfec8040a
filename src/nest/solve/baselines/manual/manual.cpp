#include "nest/solve/baselines/manual/manual.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/base/stopwatch.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/question/module_points.hpp"
#include "nest/solve/baselines/common/given_degrees.hpp"
#include "nest/solve/baselines/common/judge.hpp"
#include "nest/solve/baselines/manual/manual_strategies.hpp"

namespace nest::solve {
namespace {

// A number of stages under a strategy, and how good an expert finds it before looking at memory.
struct Depth {
  std::int64_t pipeline = 1;
  std::int64_t devices = 0;  // of the plan that leaves the fewest idle
  int rank = 0;              // 0: equal stages, fewest idle; 1: equal stages; 2: others
};
constexpr int kRanks = 3;

// Recomputations from the least on.
std::vector<Recompute> recompute_order(const PlanQuestion& question) {
  std::vector<Recompute> all = question.space.recompute;
  // What experts know of sets of modules is what they are told.
  if (std::erase(all, Recompute{RecomputePolicy::modules}) > 0) {
    const auto points = points_of(question.inputs, question.training, question.space);
    if (points != nullptr)
      for (const RecomputeModules set : points->sets()) all.push_back({RecomputePolicy::modules, 0, set});
  }
  if (all.empty()) {
    all = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
    if (question.inputs.profile() == nullptr) all.push_back({RecomputePolicy::selective, 0});
  }
  const FrameworkRules* rules = question.space.rules;
  std::erase_if(
      all, [&](const Recompute& r) { return r.layers > 0 && rules != nullptr && rules->whole_recompute; });
  std::sort(all.begin(), all.end(), [](const Recompute& a, const Recompute& b) {
    const auto key = [](const Recompute& r) {
      return std::tuple(r.policy == RecomputePolicy::full, r.policy, r.layers == 0, r.layers);
    };
    return key(a) < key(b);
  });
  return all;
}

class Expert {
 public:
  explicit Expert(const PlanQuestion& question)
      : question_(question),
        space_(question.space),
        training_(question.training),
        tree_(question.inputs.cluster.sorted().tree()),
        book_(question.inputs),
        pricer_(pricer_of(question)),
        recomputes_(recompute_order(question)) {
    if (training_.sequence == 0) training_.sequence = question.inputs.default_sequence();
    training_.micro_batches = 0;
    batches_ = micro_batch_values(question.inputs, training_, space_);
  }

  void find(BaselineResult& result) {
    if (batches_.empty()) {
      result.reason = "no micro-batch of the space divides the global batch";
      return;
    }
    graph_ = &book_.model(batches_.front(), training_).graph;
    const ManualStrategies strategies = manual_strategies(question_, training_, book_);
    if (strategies.usual.empty()) {
      result.reason = strategies.refusal;
      return;
    }
    look(strategies);
    result.evaluations = evaluations_;
    const std::optional<Plan>& plan = best_ ? best_ : first_;
    if (plan) judge(*plan, pricer_, result);
    if (!plan) result.reason = "no plan of the recipe fits the batch, the layers and the devices";
    if (stopped_) result.notes.emplace_back(kEndedEarly);
    if (result.plan) result.believed = result.plan->predicted->step;
  }

 private:
  // Where nothing fits, narrower cells are no help: an expert shards more by ZeRO, and then gives up the
  // rules one by one (more context, experts beyond the node, other widths).
  void look(const ManualStrategies& strategies) {
    for (const Strategy& narrow : strategies.narrow) {
      if (space_.pipeline.has(1) && try_depth(narrow, 1, recomputes_.front(), 0)) return;
    }
    if (try_all(strategies.usual, 0)) return;
    for (std::size_t zero = 1; zero < 4; ++zero) {
      if (try_all(strategies.usual, zero)) return;
    }
    for (const Strategy& other : strategies.others) {
      for (std::size_t zero = 0; zero < 4; ++zero) {
        if (try_all({other}, zero)) return;
      }
    }
  }

  // With the ZeRO that comes so far down the expert's list.
  bool try_all(const std::vector<Strategy>& strategies, std::size_t zero) {
    std::vector<std::vector<Depth>> depths;
    depths.reserve(strategies.size());
    for (const Strategy& s : strategies) depths.push_back(depths_of(s));
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const Recompute& recompute : recomputes_) {
        for (std::size_t i = 0; i < strategies.size(); ++i) {
          for (const Depth& depth : depths[i]) {
            if (depth.rank == rank && try_depth(strategies[i], depth.pipeline, recompute, zero)) return true;
          }
        }
      }
    }
    return false;
  }

  // Whether stages have as many blocks each, or all but a sixteenth of them (126 blocks in 16 stages).
  [[nodiscard]] bool nearly_equal(std::int64_t blocks, std::int64_t p) const {
    // A layer profile does not say which of its layers are an embedding and a head.
    const std::int64_t ends = question_.inputs.profile() != nullptr ? 2 : 0;
    const std::int64_t lacking = (p - blocks % p) % p;
    return blocks % p <= ends || 16 * lacking <= blocks;
  }

  // Ascending.
  [[nodiscard]] std::vector<Depth> depths_of(const Strategy& strategy) {
    std::int64_t blocks = 0;
    for (std::size_t i = 0; i < graph_->layers(); ++i)
      blocks += graph_->is_block(LayerId(static_cast<std::int32_t>(i))) ? 1 : 0;
    std::vector<Depth> all;
    std::int64_t most = 0;
    for (const std::int64_t p : space_.pipeline.values(std::min(blocks, tree_.devices() / strategy.cell()))) {
      Depth depth{p, 0, nearly_equal(blocks, p) ? 1 : 2};
      for (const std::int64_t b : batches_)
        depth.devices = std::max(depth.devices, strategy.cell() * p * copies(strategy, p, b));
      if (depth.devices == 0) continue;
      if (depth.rank == 1) most = std::max(most, depth.devices);
      all.push_back(depth);
    }
    for (Depth& depth : all) {
      if (depth.rank == 1 && depth.devices == most) depth.rank = 0;
    }
    return all;
  }

  // The most that the batch and the devices allow; 0 where they allow none.
  [[nodiscard]] std::int64_t copies(const Strategy& strategy, std::int64_t p,
                                    std::int64_t micro_batch) const {
    const auto all =
        copies_values(training_, space_, micro_batch, strategy, tree_.devices() / strategy.cell() / p);
    return all.empty() ? 0 : all.back();
  }

  // The micro-batch by trial.
  bool try_depth(const Strategy& strategy, std::int64_t p, const Recompute& recompute, std::size_t zero) {
    for (const std::int64_t b : batches_) {
      stopped_ = question_.options.deadline.over();
      if (stopped_ && !best_) throw Stopped{};
      if (stopped_) return true;
      for (const auto& [schedule, chunks] : schedules()) {
        if (!go_together(strategy, schedule, question_.inputs, space_)) continue;
        Plan plan;
        plan.training = training_;
        plan.training.micro_batch = b;
        plan.default_recompute = recompute;
        plan.parallelism.strategy = strategy;
        plan.parallelism.pipeline = p;
        plan.parallelism.data = strategy.side() * copies(strategy, p, b);
        plan.parallelism.schedule = schedule;
        plan.parallelism.interleave = chunks;
        if (space_.rules != nullptr && !space_.rules->allows(plan.parallelism, recompute)) continue;
        if (plan.parallelism.data > 0 && place(plan.parallelism) && shard(plan, zero)) try_plan(plan);
      }
    }
    return best_.has_value();
  }

  // 1F1B where the space has it.
  [[nodiscard]] std::vector<std::pair<Schedule, std::int64_t>> schedules() const {
    std::vector<std::pair<Schedule, std::int64_t>> all;
    for (const Schedule schedule : schedule_values(space_)) {
      for (const std::int64_t v : interleave_values(space_)) {
        const PipelineSchedule& own = schedule_of(schedule);
        if (v < own.least_chunks || v > own.most_chunks) continue;
        all.emplace_back(schedule, v);
        if (schedule == Schedule::one_f_one_b) return {all.back()};
      }
    }
    return all;
  }

  // As Megatron numbers its ranks: copies of one stage side by side, the first stage at device 0.
  [[nodiscard]] bool place(Parallelism& p) const {
    const std::vector<std::int64_t> inner = inner_values(space_, p.copies());
    if (inner.empty()) return false;
    p.data_inner = inner.back();
    const std::vector<bool>& first = space_.first_stage_first;
    p.first_stage_first =
        first.empty() ? p.pipeline > 1 : std::find(first.begin(), first.end(), true) != first.end();
    PlacementShape shape{p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), 0, p.first_stage_first};
    for (const std::int64_t block : space_.block_devices.open()
                                        ? std::vector<std::int64_t>{0}
                                        : space_.block_devices.values(tree_.devices())) {
      shape.block_devices = block;
      const auto fitting = fitting_block(tree_, shape);
      if (!fitting) continue;
      p.block_devices = *fitting;
      return true;
    }
    return false;
  }

  // The distributed optimizer (ZeRO 1) where there are states to distribute; further stages where that is not
  // enough.
  [[nodiscard]] bool shard(Plan& plan, std::size_t nth) const {
    Parallelism& p = plan.parallelism;
    const Recipe recipe = recipe_for(question_.inputs.recipe, training_);
    const std::int64_t group = p.copies() * p.strategy.cell() / p.strategy.tensor;
    std::vector<Zero> order{0, 1, 2, 3};
    if (recipe.optimizer_bytes_per_parameter() > 0) order = {1, 2, 3, 0};
    if (group == 1 && space_.zero.open()) order = {0};
    std::vector<std::int64_t> shards = divisors(group);
    if (space_.zero_shards.open()) {
      shards = {group};
    } else {
      std::erase_if(shards, [&](std::int64_t n) { return !space_.zero_shards.has(n); });
    }
    for (const Zero zero : order) {
      if (!space_.zero.has(zero.number()) || (zero.shards_anything() && shards.empty())) continue;
      p.zero = usual_zero(space_, zero, p.strategy, p.pipeline);
      p.zero_shards = zero.shards_anything() ? shards.back() : 1;
      Training training = plan.training;
      training.micro_batches = training.global_batch / (training.micro_batch * p.data);
      if (space_.rules != nullptr && space_.rules->broken({training, p}) != nullptr) continue;
      if (nth-- == 0) return true;
    }
    return false;
  }

  void try_plan(Plan& plan) {
    try {
      plan = pricer_.complete(std::move(plan));
    } catch (const InputError&) {  // fewer blocks than chunks
      return;
    }
    if (!in_space(plan)) return;
    ++evaluations_;
    pricer_.price(plan, priced_);
    if (priced_.status == PriceStatus::invalid) return;
    if (!first_) first_ = plan;
    if (priced_.status != PriceStatus::feasible) return;
    if (best_ && !(priced_.predicted.step < step_)) return;
    best_ = plan;
    step_ = priced_.predicted.step;
  }

  // Whether the search may cut the layers so.
  [[nodiscard]] bool in_space(const Plan& plan) const {
    const Parallelism& p = plan.parallelism;
    if (p.interleave > 1) {
      std::vector<std::int32_t> firsts;
      const std::size_t stages = plan.stages.size();
      for (std::size_t at = 0; at < stages * static_cast<std::size_t>(p.interleave); ++at) {
        const ChunkPlace place = place_of_part(p.schedule, stages, at);
        firsts.push_back(plan.stages[place.stage].chunks[place.chunk].front().value);
      }
      firsts.push_back(static_cast<std::int32_t>(graph_->layers()));
      const auto splits = interleaved_splits(*graph_, p.pipeline, p.interleave);
      return std::find(splits.begin(), splits.end(), firsts) != splits.end();
    }
    return true;  // an even split is of ranges in order: what the check of a plan lets pass is in the space
  }

  const PlanQuestion& question_;
  const SearchSpace& space_;
  Training training_;
  const DeviceTree& tree_;
  CostBook book_;
  Pricer pricer_;
  std::vector<Recompute> recomputes_;
  std::vector<std::int64_t> batches_;
  const LayerGraph* graph_ = nullptr;
  std::int64_t evaluations_ = 0;
  bool stopped_ = false;
  PricedPlan priced_;
  std::optional<Plan> first_;
  std::optional<Plan> best_;
  Seconds step_;
};

}  // namespace

BaselineResult find_manual(const PlanQuestion& question, const BaselineOptions& options) {
  if (options.degrees) return find_given_degrees(question, *options.degrees);
  const Stopwatch watch;
  BaselineResult result;
  Expert(question).find(result);
  result.search_time = watch.elapsed();
  return result;
}

}  // namespace nest::solve
