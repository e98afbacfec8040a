#include "nest/solve/baselines/mcmc/mcmc_space.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "nest/network/cells/placement.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/question/module_points.hpp"

namespace nest::solve {
namespace {

template <class T>
bool has(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The largest that is not above the value, else the smallest.
std::int64_t nearest(const std::vector<std::int64_t>& ascending, std::int64_t value) {
  const auto above = std::upper_bound(ascending.begin(), ascending.end(), value);
  return above == ascending.begin() ? *above : *(above - 1);
}

std::optional<Schedule> schedule_of(const SearchSpace& space) {
  if (!space.interleave.has(1)) return std::nullopt;
  const std::vector<Schedule> all = schedule_values(space);
  if (has(all, Schedule::one_f_one_b)) return Schedule::one_f_one_b;
  const auto plain =
      std::find_if(all.begin(), all.end(), [](Schedule s) { return !schedule_of(s).chunked(); });
  return plain == all.end() ? std::nullopt : std::optional(*plain);
}

bool keeps_ids_together(const SearchSpace& space) {
  return space.rules != nullptr && space.rules->contiguous_stages;
}

}  // namespace

McmcSpace::McmcSpace(const PlanQuestion& question)
    : question_(&question),
      book_(question.inputs),
      schedule_(schedule_of(question.space)),
      micro_batches_(micro_batch_values(question.inputs, question.training, question.space)),
      // The graph's shape is the same for all micro-batches.
      graph_(&book_.model(micro_batches_.empty() ? 1 : micro_batches_.front(), question.training).graph),
      cuts_(*graph_, keeps_ids_together(question.space)),
      recompute_(question.space.recompute,
                 question.space.recompute.empty()
                     ? nullptr
                     : points_of(question.inputs, question.training, question.space)) {
  if (question.inputs.profile() != nullptr) recompute_.drop_selective();
  Training training = question.training;
  if (!micro_batches_.empty()) training.micro_batch = micro_batches_.front();
  // Narrow cells first, else in the order of the values.
  std::map<std::int64_t, std::vector<Strategy>> by_cell;
  for (const Strategy& s : strategy_values(question.inputs, question.training, question.space)) {
    const bool goes = !schedule_ || go_together(s, *schedule_, question.inputs, question.space);
    if (goes && book_.refusal(training, s).empty()) by_cell[s.cell()].push_back(s);
  }
  for (const auto& [cell, list] : by_cell) strategies_.insert(strategies_.end(), list.begin(), list.end());
  pipelines_ = question.space.pipeline.values(
      std::min<std::int64_t>(cuts_.most_stages(), question.inputs.cluster.devices()));
  if (question.space.rules != nullptr && question.space.rules->whole_recompute) recompute_.drop_parts();
}

McmcSpace::Numbers McmcSpace::copies(const McmcState& state) const {
  const std::int64_t most = inputs().cluster.devices() / (state.strategy.cell() * state.pipeline);
  return copies_values(question_->training, question_->space, state.micro_batch, state.strategy, most);
}

McmcSpace::Numbers McmcSpace::inner(const McmcState& state) const {
  return inner_values(question_->space, state.copies);
}

const std::vector<McmcSpace::Block>& McmcSpace::blocks(const McmcState& state) {
  const std::int64_t cell = state.strategy.cell();
  const std::int64_t outer = state.copies / state.inner;
  const auto [at, made] =
      blocks_.try_emplace({cell, state.strategy.tensor, state.pipeline, state.inner, outer});
  if (!made) return at->second;
  const SearchSpace& space = question_->space;
  const DeviceTree& tree = inputs().cluster.sorted().tree();
  PlacementShape shape{cell, state.pipeline, state.inner, outer, 0, false};
  Numbers sizes = block_sizes(tree, shape);
  if (outer == 1 && sizes.size() > 1) sizes.resize(1);
  if (!space.block_devices.open()) sizes = space.block_devices.values(tree.devices());
  for (const std::int64_t size : sizes) {
    shape.block_devices = size;
    const auto slots = place_cells(tree, shape);
    if (!slots) continue;
    Numbers shards;
    if (space.zero_shards.open()) {
      shards = zero_shard_sizes(tree, *slots, state.strategy);
      shards.push_back(state.group());
    } else {
      shards = divisors(state.group());
      std::erase_if(shards, [&](std::int64_t n) { return !space.zero_shards.has(n); });
    }
    at->second.push_back({size, std::move(shards)});
  }
  return at->second;
}

std::vector<bool> McmcSpace::directions(const McmcState& state) const {
  if (!question_->space.first_stage_first.empty()) return question_->space.first_stage_first;
  return state.pipeline == 1 ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

std::vector<Zero> McmcSpace::zeros(const McmcState& state) const {
  return zero_values(question_->space, state.strategy, state.group(), state.pipeline);
}

std::vector<Recompute> McmcSpace::recomputes(const McmcState& state) const {
  const std::int64_t able = cuts_.least_recomputable(state.cut);
  std::vector<Recompute> all = recompute_.uniform(able);
  std::erase_if(all, [&](const Recompute& r) { return r.layers > able; });
  return all;
}

PlanDegrees McmcSpace::degrees(const McmcState& state) {
  PlanDegrees made;
  const std::int64_t data = state.strategy.side() * state.copies;
  made.training = question_->training;
  made.training.micro_batch = state.micro_batch;
  made.training.micro_batches = made.training.global_batch / (state.micro_batch * data);
  Parallelism& p = made.parallelism;
  p.strategy = state.strategy;
  p.pipeline = state.pipeline;
  p.data = data;
  p.data_inner = state.inner;
  p.block_devices = blocks(state)[state.block].devices;
  p.zero = state.zero;
  p.zero_shards = state.zero_shards;
  p.schedule = schedule_.value_or(Schedule::one_f_one_b);
  p.first_stage_first = state.first_stage_first;
  return made;
}

bool McmcSpace::runs(const McmcState& state) {
  const FrameworkRules* rules = question_->space.rules;
  const std::int64_t group = state.zero.resharding().group();
  if (group > 0 && !resharding_group_fits(group, state.zero_shards)) return false;
  return rules == nullptr || rules->broken(degrees(state)) == nullptr;
}

bool McmcSpace::settle_copies(McmcState& state, const McmcState& before) {
  const Numbers copies_left = copies(state);
  if (copies_left.empty()) return false;
  state.copies = nearest(copies_left, state.copies);
  const Numbers inner_left = inner(state);
  if (inner_left.empty()) return false;
  if (state.inner == before.inner && before.inner == before.copies && before.copies > 1)
    state.inner = state.copies;
  state.inner = nearest(inner_left, state.inner);
  if (!blocks(state).empty()) return true;
  // Cells that do not fit side by side may fit apart.
  return std::any_of(inner_left.begin(), inner_left.end(), [&](std::int64_t inner) {
    state.inner = inner;
    return !blocks(state).empty();
  });
}

// ZeRO as it is where that is possible, else the first that is.
bool McmcSpace::settle_zero(McmcState& state, bool whole) {
  const Numbers& shards = blocks(state)[state.block].shards;
  std::vector<Zero> zeros_left = zeros(state);
  const auto kept = std::find(zeros_left.begin(), zeros_left.end(), state.zero);
  if (kept != zeros_left.end()) std::rotate(zeros_left.begin(), kept, kept + 1);
  const std::int64_t wanted = whole ? state.group() : state.zero_shards;
  for (const Zero zero : zeros_left) {
    state.zero = zero;
    if (!zero.shards_anything()) {
      state.zero_shards = 1;
      if (runs(state)) return true;
      continue;
    }
    if (shards.empty()) continue;
    state.zero_shards = nearest(shards, wanted);
    if (runs(state)) return true;
    for (const std::int64_t n : shards) {
      state.zero_shards = n;
      if (runs(state)) return true;
    }
  }
  return false;
}

bool McmcSpace::settle(McmcState& state, const McmcState& before) {
  const bool whole = state.zero_shards == before.zero_shards &&
                     (!before.zero.shards_anything() || before.zero_shards == before.group());
  if (!settle_copies(state, before)) return false;
  state.block = std::min(state.block, blocks(state).size() - 1);
  const std::vector<bool> ways = directions(state);
  if (!has(ways, state.first_stage_first)) state.first_stage_first = ways.front();
  if (McmcCuts::stages(state.cut) != state.pipeline) cuts_.make_even(state.cut, state.pipeline);
  const std::vector<Recompute> left = recomputes(state);
  if (left.empty()) return false;
  if (!has(left, state.recompute)) {
    const auto alike = std::find_if(left.begin(), left.end(),
                                    [&](const Recompute& r) { return r.policy == state.recompute.policy; });
    state.recompute = alike == left.end() ? left.front() : *alike;
  }
  return settle_zero(state, whole);
}

bool McmcSpace::starts(const std::function<bool(const McmcState&)>& take) {
  McmcState state;
  if (!schedule_) return false;
  for (const std::int64_t b : micro_batches_) {
    state.micro_batch = b;
    for (const Strategy& strategy : strategies_) {
      state.strategy = strategy;
      for (const std::int64_t p : pipelines_) {
        state.pipeline = p;
        state.cut = cuts_.even(p);
        Numbers most_first = copies(state);
        std::reverse(most_first.begin(), most_first.end());
        for (const std::int64_t q : most_first) {
          state.copies = q;
          for (const std::int64_t i : inner(state)) {
            state.inner = i;
            McmcState settled = state;
            if (settle(settled, state) && settled.inner == i && take(settled)) return true;
          }
        }
      }
    }
  }
  return false;
}

void McmcSpace::write(const McmcState& state, Plan& plan) {
  const PlanDegrees made = degrees(state);
  plan.training = made.training;
  plan.parallelism = made.parallelism;
  plan.stages.resize(static_cast<std::size_t>(state.pipeline));
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    Stage& stage = plan.stages[i];
    cuts_.layers_of(state.cut, static_cast<std::int64_t>(i), stage.layers);
    stage.strategy = state.strategy;
    stage.recompute = state.recompute;
  }
}

}  // namespace nest::solve
