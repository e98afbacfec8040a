#include "nest/solve/twin/brute_force.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/price.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/twin/all_cuts.hpp"
#include "nest/solve/twin/twin_contexts.hpp"
#include "nest/solve/twin/twin_exchanges.hpp"
#include "nest/solve/twin/twin_recompute.hpp"
#include "nest/solve/twin/twin_states.hpp"
#include "nest/solve/twin/twin_values.hpp"
#include "nest/solve/twin/twin_zeros.hpp"

namespace nest::solve {
namespace {

using Numbers = std::vector<std::int64_t>;
using Visit = std::function<bool(const Plan&)>;

std::int64_t experts_of(const ModelSpec& spec) {
  std::int64_t most = 0;
  for (const StackSpec& stack : spec.stacks) {
    for (const BlockSpec& block : stack.blocks) {
      if (block.experts) most = std::max(most, block.experts->experts);
    }
  }
  return most;
}

constexpr std::size_t kMostCuts = 1'000'000;

// The loops, one function for each kind of choice; each fills its part of plan_ and goes on to the next.
class Space {
 public:
  Space(const PlanInputs& inputs, const Training& training, const SearchSpace& space, const Visit& visit)
      : inputs_(inputs),
        tree_(inputs.cluster.sorted().tree()),
        space_(space),
        book_(inputs),
        visit_(visit),
        recompute_(inputs, training, space) {
    plan_.training = training;
  }

  // Whether all plans were visited.
  [[nodiscard]] bool visit_all() {
    for (const States& states : twin_states(inputs_, plan_.training, space_)) {
      plan_.training.states = states;
      micro_batches();
    }
    return complete_ && !stop_;
  }

 private:
  void micro_batches() {
    const LayerProfile* profile = inputs_.profile();
    const std::int64_t batch = plan_.training.global_batch;
    Numbers open{1, 2, 4, 8, 16};
    if (profile != nullptr) {
      open = {profile->micro_batch};
    } else {
      // While half of it has fewer than 65,536 tokens.
      std::int64_t tokens = 0;
      for (const StackSpec& stack : std::get<ModelSpec>(inputs_.source).stacks)
        tokens = std::max(tokens, stack.sequence > 0 ? stack.sequence : plan_.training.sequence);
      for (std::int64_t b = 32; b * tokens < 131'072; b *= 2) open.push_back(b);
    }
    for (const std::int64_t b : values_of(space_.micro_batch, open, batch)) {
      if (batch % b != 0 || stop_ || (profile != nullptr && b != profile->micro_batch)) continue;
      plan_.training.micro_batch = b;
      try {
        graph_ = &book_.model(b, plan_.training).graph;
      } catch (const InputError&) {  // longer sequences than the model has positions
        continue;
      }
      cuts_.clear();
      splits_.clear();
      strategies_ = profile != nullptr ? profile_strategies(*profile) : strategies();
      for (const Strategy& s : strategies_) {
        plan_.parallelism.strategy = s;
        degrees();
      }
    }
  }

  // With the degrees of `of` and, where the space leaves them open, its sequence parallelism.
  void add_strategies(std::vector<Strategy>& list, const Strategy& of, const Numbers& expert_tensor) const {
    for (const bool sp : values_of<bool>(space_.sequence_parallel, {of.sequence_parallel})) {
      for (const auto& [method, inner] : twin_contexts(space_, of, twin_node(tree_))) {
        for (const std::int64_t x : values_of(space_.expert_tensor, expert_tensor, tree_.devices())) {
          for (const auto& [dispatcher, overlap] : twin_exchanges(inputs_, space_, of.expert))
            add_new(list, {of.tensor, sp && of.tensor > 1, of.context, method, of.expert, x, dispatcher,
                           overlap, inner});
        }
      }
    }
  }

  [[nodiscard]] std::vector<Strategy> profile_strategies(const LayerProfile& profile) const {
    std::vector<Strategy> list;
    for (const ProfileStrategy& own : profile.strategies) {
      if (space_.tensor.has(own.tensor) && space_.context.has(own.context) && space_.expert.has(own.expert))
        add_strategies(list,
                       {.tensor = own.tensor,
                        .sequence_parallel = own.sequence_parallel,
                        .context = own.context,
                        .expert = own.expert},
                       {own.tensor});
    }
    return list;
  }

  // Whether so many ranks can share the positions of every layer. Token ids stay whole.
  [[nodiscard]] bool divides(std::int64_t ranks) {
    const auto whole = [&](const LayerType& type, TensorIndex i) {
      const Shape& shape = type.tensor(i).shape;
      return std::all_of(shape.begin(), shape.end(), [&](const Dim& d) {
        return (d.axis != Axis::sequence && d.axis != Axis::source_sequence) || d.size % ranks == 0;
      });
    };
    for (const LayerType& type : book_.model(plan_.training.micro_batch, plan_.training).model->types) {
      for (const Operator& op : type.operators) {
        for (const TensorIndex i : op.outputs)
          if (!whole(type, i)) return false;
        for (const TensorIndex i : op.inputs)
          if (op.kind != OperatorKind::embedding && !whole(type, i)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<Strategy> strategies() {
    const std::int64_t experts = experts_of(std::get<ModelSpec>(inputs_.source));
    const std::int64_t most = tree_.devices();
    const bool is_long = plan_.training.sequence >= 16'384;
    std::vector<Strategy> list;
    for (const std::int64_t t : values_of(space_.tensor, divisors(twin_node(tree_)), most)) {
      for (const std::int64_t c :
           values_of(space_.context, is_long ? Numbers{1, 2, 4, 8, 16} : Numbers{1}, most)) {
        for (const std::int64_t e :
             values_of(space_.expert, experts > 0 ? divisors(experts) : Numbers{1}, most))
          add_strategies(
              list, {.tensor = t, .sequence_parallel = t > 1 && divides(t * c), .context = c, .expert = e},
              experts > 0 ? Numbers{1, t} : Numbers{t});
      }
    }
    return list;
  }

  void degrees() {
    Parallelism& p = plan_.parallelism;
    Training& t = plan_.training;
    const auto layers = static_cast<std::int64_t>(graph_->layers());
    const std::int64_t side = p.strategy.side();
    for (const std::int64_t stages : space_.pipeline.values(layers)) {
      for (std::int64_t q = 1; p.strategy.cell() * q * stages <= tree_.devices(); ++q) {
        p.pipeline = stages;
        p.data = side * q;
        if (t.global_batch % (t.micro_batch * p.data) != 0 || !space_.data.has(p.data)) continue;
        t.micro_batches = t.global_batch / (t.micro_batch * p.data);
        for (const std::int64_t inner : divisors(q)) {
          p.data_inner = inner;
          if (space_.data_inner.has(inner) && !stop_) placements();
        }
      }
    }
  }

  void placements() {
    Parallelism& p = plan_.parallelism;
    PlacementShape shape{p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), 0, false};
    Numbers open = block_sizes(tree_, shape);
    if (p.outer() == 1 && open.size() > 1) open.resize(1);
    const std::vector<bool> both =
        p.pipeline == 1 ? std::vector<bool>{false} : std::vector<bool>{false, true};
    for (const std::int64_t block : values_of(space_.block_devices, open, tree_.devices())) {
      p.block_devices = shape.block_devices = block;
      const auto slots = place_cells(tree_, shape);  // the last stage at device 0
      if (!slots) continue;
      for (const bool first : values_of(space_.first_stage_first, both)) {
        p.first_stage_first = first;
        zero(*slots);
      }
    }
  }

  // Ranks of the first dense group at device 0 that share a domain with its first rank, level by level.
  [[nodiscard]] Numbers shard_sizes(const SlotTable& slots, std::int64_t group) const {
    std::vector<DeviceId> ranks;
    const std::vector<Cell> cells = slots.cells_of(static_cast<std::size_t>(plan_.parallelism.pipeline - 1));
    const auto tensor = static_cast<std::size_t>(plan_.parallelism.strategy.tensor);
    for (const Cell& cell : cells) {
      for (std::size_t j = 0; j < cell.size(); j += tensor) ranks.push_back(cell[j]);
    }
    Numbers sizes{group};
    for (std::int32_t l = 0; l < tree_.levels(); ++l) {
      std::int64_t n = 0;
      for (const DeviceId rank : ranks) {
        if (tree_.domain_of(rank, LevelId(l)) != tree_.domain_of(ranks[0], LevelId(l))) break;
        ++n;
      }
      if (n > 1 && group % n == 0) add_new(sizes, n);
    }
    return sizes;
  }

  void zero(const SlotTable& slots) {
    Parallelism& p = plan_.parallelism;
    const std::int64_t group = p.copies() * p.strategy.cell() / p.strategy.tensor;
    for (const std::int64_t z : values_of(space_.zero, group > 1 ? Numbers{0, 1, 2, 3} : Numbers{0}, 3, 0)) {
      const Numbers open = shard_sizes(slots, group);
      for (const std::int64_t n : z == 0 ? Numbers{1} : values_of(space_.zero_shards, open, group)) {
        p.zero_shards = n;
        for (const Zero& own : twin_zeros(space_, z, p, n))
          if (group % n == 0) schedules(own);
      }
    }
  }

  void schedules(const Zero& zero) {
    Parallelism& p = plan_.parallelism;
    p.zero = zero;
    const std::int64_t layers = static_cast<std::int64_t>(graph_->layers());
    for (const Schedule schedule :
         values_of<Schedule>(space_.schedules, {Schedule::one_f_one_b, Schedule::interleaved})) {
      p.schedule = schedule;
      if (!twin_exchange_suits(inputs_, space_, p.strategy, schedule)) continue;
      for (const std::int64_t v : values_of(space_.interleave, {1, 2, 3, 4, 6, 8}, layers)) {
        p.interleave = v;
        if (!runs_with(schedule, {p.pipeline, plan_.training.micro_batches, v})) continue;
        if (p.pipeline * v <= layers && !stop_ && runs()) mixes(0);
      }
    }
  }

  // Whether the framework can.
  [[nodiscard]] bool runs() const {
    const FrameworkRules* rules = space_.rules;
    if (rules == nullptr) return true;
    return rules->has(plan_.parallelism.schedule) &&
           rules->broken({plan_.training, plan_.parallelism}) == nullptr;
  }

  // Strategies of the stages from `stage` on.
  void mixes(std::size_t stage) {
    const Strategy& lead = plan_.parallelism.strategy;
    const auto stages = static_cast<std::size_t>(plan_.parallelism.pipeline);
    const bool mixed = space_.mixed && !schedule_of(plan_.parallelism.schedule).chunked() &&
                       (space_.rules == nullptr || !space_.rules->same_strategy);
    plan_.stages.resize(stages);
    if (stop_) return;
    if (stage == stages) return cuts();
    for (const Strategy& s : strategies_) {
      const bool may = mixed && stage > 0 && s.cell() == lead.cell() && s.side() == lead.side() &&
                       twin_exchange_suits(inputs_, space_, s, plan_.parallelism.schedule);
      if (!may && !(s == lead)) continue;
      plan_.stages[stage].strategy = s;
      mixes(stage + 1);
    }
  }

  void cuts() {
    const auto p = static_cast<std::size_t>(plan_.parallelism.pipeline);
    const auto v = static_cast<std::size_t>(plan_.parallelism.interleave);
    auto& kept = v == 1 ? cuts_ : splits_;
    auto [at, made] = kept.try_emplace(p * v);
    if (made) {
      at->second = v == 1 ? all_cuts(*graph_, p, kMostCuts) : all_chunk_cuts(*graph_, p * v);
    }
    // So many cannot be listed; the caller's limit is far below.
    if (at->second.size() >= kMostCuts) complete_ = false;
    for (const CutParts& parts : at->second) {
      if (stop_ || (space_.rules != nullptr && space_.rules->contiguous_stages && !contiguous(parts)))
        continue;
      for (std::size_t i = 0; i < p; ++i) {
        Stage& stage = plan_.stages[i];
        stage.layers.clear();
        stage.chunks.clear();
        for (std::size_t c = 0; c < v; ++c) {
          const std::vector<LayerId>& part = parts[part_of(plan_.parallelism.schedule, p, {i, c})];
          stage.layers.insert(stage.layers.end(), part.begin(), part.end());
          if (v > 1) stage.chunks.push_back(part);
        }
      }
      recompute(0);
    }
  }

  // Of the stages from `stage` on.
  void recompute(std::size_t stage) {
    const bool same = space_.same_recompute || (space_.rules != nullptr && space_.rules->same_recompute);
    if (stop_) return;
    if (stage == plan_.stages.size()) {
      stop_ = !visit_(plan_);
      return;
    }
    std::int64_t able = 0;
    for (const LayerId id : plan_.stages[stage].layers) able += graph_->recomputes(id) ? 1 : 0;
    for (const Recompute& r : recompute_.of_stage(able)) {
      const bool other = same && stage > 0 && !(r == plan_.stages[0].recompute);
      if (other || (space_.rules != nullptr && !space_.rules->allows(plan_.parallelism, r))) continue;
      plan_.stages[stage].recompute = r;
      recompute(stage + 1);
    }
  }

  const PlanInputs& inputs_;
  const DeviceTree& tree_;
  const SearchSpace& space_;
  CostBook book_;
  const Visit& visit_;
  bool stop_ = false;
  bool complete_ = true;
  Plan plan_;
  const LayerGraph* graph_ = nullptr;
  std::vector<Strategy> strategies_;
  TwinRecompute recompute_;
  std::map<std::size_t, std::vector<CutParts>> cuts_;
  std::map<std::size_t, std::vector<CutParts>> splits_;
};

}  // namespace

bool for_each_plan(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
                   const std::function<bool(const Plan&)>& visit) {
  return Space(inputs, training, space, visit).visit_all();
}

std::int64_t count_plans(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
                         std::int64_t most_plans) {
  std::int64_t plans = 0;
  const bool all = for_each_plan(inputs, training, space, [&](const Plan&) { return ++plans <= most_plans; });
  return all ? plans : most_plans + 1;
}

BruteForceResult brute_force(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
                             const SearchOptions& options, std::int64_t most_plans) {
  BruteForceResult result;
  Pricer pricer(inputs, options.price_options());
  PricedPlan priced;
  std::pair<double, Seconds> best_score;  // what is made least; of equal ones the faster
  const auto visit = [&](const Plan& plan) {
    if (result.plans == most_plans) return false;
    ++result.plans;
    if (options.most_devices && plan.parallelism.devices() > *options.most_devices) return true;
    pricer.price(plan, priced);
    if (priced.status != PriceStatus::feasible) return true;
    const Seconds step = priced.predicted.step;
    std::pair<double, Seconds> score{0, step};
    if (options.objective == Objective::cost)
      score.first = step.value * static_cast<double>(rented_devices(pricer.place(plan), inputs.cluster));
    if (options.objective == Objective::devices) {
      if (priced.predicted.tokens_per_s < options.target_tokens_per_s) return true;
      score.first = static_cast<double>(plan.parallelism.devices());
    }
    if (!result.best || score < best_score) {
      best_score = score;
      result.step = step;
      result.best = plan;
    }
    return true;
  };
  result.complete = for_each_plan(inputs, training, space, visit);
  if (result.best) result.best = with_results(pricer.place(*result.best), pricer.price(*result.best));
  return result;
}

}  // namespace nest::solve
