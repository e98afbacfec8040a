#include "nest/solve/tree/evaluator.hpp"

#include <algorithm>
#include <limits>

#include "nest/plan/plan.hpp"
#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/strategies/boundary.hpp"

namespace nest::solve {
namespace {

const Shapes kNowhere;

// Stages with the same network share a place.
std::vector<Place> places_of(SearchCosts& costs, const Batch& batch, const Strategy& strategy,
                             const PlanNetwork& network, std::vector<std::size_t>& of_stage) {
  std::vector<Place> places;
  std::vector<std::size_t> number(network.stages.size());
  for (std::size_t i = 0; i < network.stages.size(); ++i) {
    const std::size_t same = network.stage_class[i];
    if (same == i) {
      number[i] = places.size();
      places.push_back(costs.place(batch, strategy, network.stages[i]));
    }
    of_stage.push_back(number[same]);
  }
  return places;
}

}  // namespace

bool SearchProblem::mixed(Schedule schedule) const {
  return space->mixed && !schedule_of(schedule).chunked() &&
         (space->rules == nullptr || !space->rules->same_strategy);
}

const std::vector<std::size_t>& Evaluator::family(const Group& group, Schedule schedule) {
  const bool mixed = group.pipeline > 1 && problem_->mixed(schedule);
  const auto [at, made] = families_.try_emplace({group.batch, group.strategy, mixed});
  std::vector<std::size_t>& all = at->second;
  if (!made) return all;
  all.push_back(group.strategy);
  if (!mixed) return all;
  const Strategy& first = strategy_of(group);
  for (std::size_t s = 0; s < problem_->strategies.size(); ++s) {
    const Strategy& other = problem_->strategies[s];
    if (s != group.strategy && other.cell() == first.cell() && other.side() == first.side() &&
        problem_->costs->refusal(batch_of(group), other).empty())
      all.push_back(s);
  }
  return all;
}

const RelaxedNetwork& Evaluator::relaxed(std::size_t strategy, std::int64_t copies, ShardKind kind) {
  std::unique_ptr<RelaxedNetwork>& network = relaxed_[{strategy, copies, kind}];
  if (!network) {
    SearchCosts& costs = *problem_->costs;
    network = std::make_unique<RelaxedNetwork>(relaxed_network(
        costs.inputs().cluster, costs.constants(), costs.collectives(),
        {problem_->strategies[strategy], copies, kind, !problem_->space->zero_shards.open()}));
  }
  return *network;
}

std::vector<TieQuestion> tie_questions(const LayerGraph& graph, std::int64_t stages) {
  if (graph.tied().empty() || stages == 1) return {{}};
  const auto last = static_cast<std::size_t>(stages) - 1;
  // The only layer without makers is in the first stage of every plan, the only one without users in the
  // last.
  std::vector<bool> made(graph.layers(), false);
  std::vector<bool> used(graph.layers(), false);
  for (const Edge& edge : graph.edges()) {
    made[edge.to.index()] = true;
    used[edge.from.index()] = true;
  }
  const bool one_first = std::count(made.begin(), made.end(), false) == 1;
  const bool one_last = std::count(used.begin(), used.end(), false) == 1;
  for (const TiedTensor& t : graph.tied()) {
    const bool first = one_first && std::any_of(t.layers.begin(), t.layers.end(),
                                                [&](LayerId id) { return !made[id.index()]; });
    const bool end = one_last && std::any_of(t.layers.begin(), t.layers.end(),
                                             [&](LayerId id) { return !used[id.index()]; });
    if (first && end) return {{FillShape::Ties::any, 0, last}};
  }
  std::vector<TieQuestion> all{{FillShape::Ties::none, 0, 0}};
  for (std::size_t a = 0; a < last; ++a) {
    for (std::size_t b = a + 1; b <= last; ++b) all.push_back({FillShape::Ties::between, a, b});
  }
  return all;
}

const Evaluator::Sums& Evaluator::sums(const Group& group, Schedule schedule) {
  const std::vector<std::size_t>& members = family(group, schedule);
  const SumsKey key{group.batch, group.strategy, schedule_of(schedule).hides_chunk_sends, members.size() > 1};
  const auto [at, made] = sums_.try_emplace(key);
  Sums& sums = at->second;
  if (!made) return sums;
  const Batch& batch = batch_of(group);
  SearchCosts& costs = *problem_->costs;
  std::vector<Place> places;
  sums.send = Seconds::most();
  for (const std::size_t member : members) {
    const Strategy& strategy = problem_->strategies[member];
    const RelaxedNetwork& network = relaxed(member, 1, ShardKind::any);
    places.push_back(costs.place(batch, strategy, network.stage, network.collectives));
    LayerTerms all;
    const auto counts = batch.sets->outside(0);
    for (const Term term : {Term::dense_parameters, Term::expert_parameters}) {
      for (std::size_t kind = 0; kind < counts.size(); ++kind)
        all.of(term) += counts[kind] * places.back().tables.front()->of(batch.sets->example(kind)).of(term);
      double& least = sums.parameters.of(term);
      least = places.size() == 1 ? all.of(term) : std::min(least, all.of(term));
    }
    // What every boundary sends at least.
    const Bytes bytes = boundary_bytes(batch.least_boundary, strategy);
    const Seconds send = costs.coster().receive(bytes, network.stage.from_next,
                                                Seconds{std::numeric_limits<double>::max()}, schedule);
    sums.send = std::min(sums.send, send);
  }
  StageSetting setting;
  setting.sets = batch.sets;
  const StageOptions options(setting, std::move(places));
  const auto all = batch.sets->outside(0);
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const Seconds f = options.least_forward(kind);
    const Seconds b = options.least_backward(kind);
    sums.f += all[kind] * f;
    sums.b += all[kind] * b;
    sums.by_kind.push_back(f + b);
  }
  return sums;
}

// Some stage has at least the mean number of every kind of layers, rounded up.
Seconds Evaluator::bound_of(const Group& group, Schedule schedule, std::int64_t interleave,
                            const Passes& passes) const {
  const auto& [f, b, by_kind] = passes;
  const Batch& batch = batch_of(group);
  const auto all = batch.sets->outside(0);
  Seconds longest;
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const auto count = static_cast<std::int64_t>(all[kind]);
    const std::int64_t most = (count + group.pipeline - 1) / group.pipeline;
    longest = std::max(longest, static_cast<double>(most) * by_kind[kind]);
  }
  if (schedule_of(schedule).chunked()) {
    if (problem_->pipeline_model == PipelineModel::one_f_one_b)
      return Seconds{schedule_of(schedule).bound({group.pipeline, group.micro_batches, interleave},
                                                 (f + b).value, longest.value)};
    return static_cast<double>(group.micro_batches) *
           std::max(longest, (f + b) / static_cast<double>(group.pipeline));
  }
  return pipeline_bound(
      {&pipeline_form(schedule, problem_->pipeline_model), group.pipeline, group.micro_batches}, f, b,
      longest);
}

Seconds Evaluator::quick_bound(const Group& group, Schedule schedule, std::int64_t interleave) {
  const Sums& s = sums(group, schedule);
  const ScheduleShape shape{group.pipeline, group.micro_batches, interleave};
  const Seconds sends = static_cast<double>(sending_boundaries(schedule, shape)) * s.send;
  return bound_of(group, schedule, interleave, {s.f + sends, s.b + sends, s.by_kind});
}

Bytes Evaluator::memory_floor(const Group& group) {
  const SearchSpace& space = *problem_->space;
  std::int64_t zero = Zero::kMost;
  while (zero > 0 && !space.zero.has(zero)) --zero;
  // Of all strategies that stages may have: as many ranks as share anything.
  const std::int64_t ranks = group.copies * strategy_of(group).cell();
  StageNetwork network;
  network.dense.shards = network.expert.shards = ranks;
  const std::vector<std::size_t>& members = family(group, Schedule::one_f_one_b);
  if (members.size() == 1) {
    const Strategy& s = strategy_of(group);
    network.dense.shards = ranks / s.tensor;
    network.expert.shards = ranks / (s.expert_tensor_degree() * s.expert);
  }
  const StageMemory m = problem_->costs->coster().memory(sums(group, Schedule::one_f_one_b).parameters,
                                                         network, zero, 0, Bytes{0});
  return Bytes{(m.weights + m.gradients + m.optimizer).value / group.pipeline};
}

StageSetting Evaluator::setting(const Configuration& c, const RecomputeDomain& recompute,
                                const Shapes& ends) const {
  const Group& group = problem_->groups[c.group];
  const Batch& batch = batch_of(group);
  StageSetting setting;
  setting.sets = batch.sets;
  setting.micro_batch_scale = batch.scale;
  setting.coster = &problem_->costs->coster();
  setting.recompute = &recompute;
  setting.ends = &ends;
  setting.zero = c.zero;
  setting.schedule = c.schedule;
  setting.shape = {group.pipeline, group.micro_batches, c.interleave};
  return setting;
}

InterleavedFiller& Evaluator::interleaved(const Batch& batch) {
  std::unique_ptr<InterleavedFiller>& filler = interleaved_[batch.graph];
  if (!filler) filler = std::make_unique<InterleavedFiller>(*batch.graph, *batch.sets, problem_->prunings);
  return *filler;
}

const std::vector<std::vector<std::int32_t>>& Evaluator::splits(const Batch& batch, std::int64_t stages,
                                                                std::int64_t chunks) {
  const auto [at, made] = splits_.try_emplace({batch.graph, stages, chunks});
  if (made) at->second = interleaved_splits(*batch.graph, stages, chunks);
  return at->second;
}

std::optional<Seconds> Evaluator::relaxed_bound(const Configuration& c, ShardKind kind, Seconds threshold,
                                                FillCounts& counts) {
  const Group& group = problem_->groups[c.group];
  const Batch& batch = batch_of(group);
  SearchCosts& costs = *problem_->costs;
  const RecomputeDomain only =
      c.recompute ? RecomputeDomain(*c.recompute, problem_->recompute) : problem_->recompute;
  StageSetting own = setting(c, only, kNowhere);
  if (kind == ShardKind::any) {
    own.any_zero = true;
    own.zero = Zero::kMost;
  }
  const std::vector<std::size_t>& members = family(group, c.schedule);
  const RelaxedNetwork& network = relaxed(group.strategy, group.copies, kind);
  std::vector<Place> places;
  std::vector<std::size_t> all;
  for (const std::size_t member : members) {
    // Shards are counted for the first stage's strategy: what others make of them is not known here.
    const RelaxedNetwork& n = relaxed(member, group.copies, member == group.strategy ? kind : ShardKind::any);
    all.push_back(places.size());
    places.push_back(costs.place(batch, problem_->strategies[member], n.stage, n.collectives));
  }
  StageOptions options(own, std::move(places));
  if (schedule_of(c.schedule).chunked()) {
    InterleavedShape shape{group.pipeline, group.micro_batches, c.interleave, problem_->pipeline_model,
                           costs.capacity().value};
    shape.places.assign(static_cast<std::size_t>(group.pipeline), 0);
    shape.wrap = &network.stage.from_next;
    shape.bound = true;
    shape.schedule = c.schedule;
    const auto found = interleaved(batch).fill(options, shape, splits(batch, group.pipeline, c.interleave),
                                               threshold, counts);
    return found ? std::optional(found->step) : std::nullopt;
  }
  FillShape shape;
  shape.pipeline = {&pipeline_form(c.schedule, problem_->pipeline_model), group.pipeline,
                    group.micro_batches};
  shape.capacity = costs.capacity();
  shape.places.assign(static_cast<std::size_t>(group.pipeline), all);
  shape.places.front() = {0};
  shape.bound = true;
  const auto found = filler_.fill(options, shape, threshold, counts, LabelLimit::bound);
  return found ? std::optional(found->step) : std::nullopt;
}

Seconds Evaluator::network_bound(const Configuration& c, const Placement& placement) {
  const Group& group = problem_->groups[c.group];
  if (family(group, c.schedule).size() > 1) return {};
  const Batch& batch = batch_of(group);
  SearchCosts& costs = *problem_->costs;
  std::vector<std::size_t> of_stage;
  const PlanNetwork& network = *placement.network;
  const StageOptions options(setting(c, problem_->recompute, kNowhere),
                             places_of(costs, batch, strategy_of(group), network, of_stage));
  const auto all = batch.sets->outside(0);
  std::vector<Seconds> by_kind;
  Seconds f;
  Seconds b;
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    f += all[kind] * options.least_forward(kind);
    b += all[kind] * options.least_backward(kind);
    by_kind.push_back(options.least_forward(kind) + options.least_backward(kind));
  }
  const Bytes bytes = boundary_bytes(batch.least_boundary, strategy_of(group));
  Seconds sends;
  const Shapes* last = nullptr;
  Seconds time;
  for (std::size_t i = 0; i + 1 < network.stages.size(); ++i) {
    const Shapes& pairs = network.stages[i].from_next;
    if (last == nullptr || !(pairs == *last)) {
      time = costs.coster().receive(bytes, pairs, Seconds{std::numeric_limits<double>::max()}, c.schedule);
      last = &pairs;
    }
    sends += time;
  }
  sends = sends * static_cast<double>(c.interleave);
  return bound_of(group, c.schedule, c.interleave, {f + sends, b + sends, by_kind});
}

Plan Evaluator::make_plan(const Configuration& c, const Placement& placement) const {
  const Group& group = problem_->groups[c.group];
  Plan plan;
  plan.training = batch_of(group).training;
  plan.training.micro_batches = group.micro_batches;
  Parallelism& p = plan.parallelism;
  p.strategy = strategy_of(group);
  p.strategy.expert_tensor = p.strategy.expert_tensor_degree();
  p.pipeline = group.pipeline;
  p.data = group.copies * p.strategy.side();
  p.data_inner = placement.inner;
  p.block_devices = placement.block_devices;
  p.zero = c.zero;
  p.zero_shards = c.zero.shards_anything() ? placement.zero_shards : 1;
  p.interleave = c.interleave;
  p.schedule = c.schedule;
  p.first_stage_first = placement.first_stage_first;
  plan.stages.resize(static_cast<std::size_t>(group.pipeline));
  for (Stage& stage : plan.stages) stage.strategy = p.strategy;
  return plan;
}

std::optional<Evaluator::Best> Evaluator::best(const Configuration& c, const Placement& placement,
                                               const TieQuestion& ties, Seconds threshold,
                                               FillCounts& counts) {
  const Group& group = problem_->groups[c.group];
  const Batch& batch = batch_of(group);
  SearchCosts& costs = *problem_->costs;
  const PlanNetwork& network = *placement.network;
  std::vector<std::size_t> of_stage;
  const RecomputeDomain only =
      c.recompute ? RecomputeDomain(*c.recompute, problem_->recompute) : problem_->recompute;
  StageOptions options(setting(c, only, network.tied),
                       places_of(costs, batch, strategy_of(group), network, of_stage));
  if (schedule_of(c.schedule).chunked()) {
    InterleavedShape shape{group.pipeline,
                           group.micro_batches,
                           c.interleave,
                           problem_->pipeline_model,
                           costs.capacity().value,
                           std::move(of_stage),
                           &network.wrap,
                           ties.ties,
                           ties.first,
                           ties.last};
    shape.schedule = c.schedule;
    const auto& all = splits(batch, group.pipeline, c.interleave);
    const auto found = interleaved(batch).fill(options, shape, all, threshold, counts);
    if (!found) return std::nullopt;
    Best best{found->step, make_plan(c, placement)};
    const std::vector<std::int32_t>& split = all[found->split];
    for (std::size_t k = 0; k + 1 < split.size(); ++k) {
      Stage& stage = best.plan.stages[place_of_part(c.schedule, best.plan.stages.size(), k).stage];
      std::vector<LayerId> chunk;
      for (std::int32_t id = split[k]; id < split[k + 1]; ++id) chunk.emplace_back(id);
      stage.layers.insert(stage.layers.end(), chunk.begin(), chunk.end());
      stage.chunks.push_back(std::move(chunk));
    }
    for (std::size_t i = 0; i < best.plan.stages.size(); ++i)
      best.plan.stages[i].recompute = found->recompute[i];
    return best;
  }
  FillShape shape;
  shape.pipeline = {&pipeline_form(c.schedule, problem_->pipeline_model), group.pipeline,
                    group.micro_batches};
  shape.capacity = costs.capacity();
  for (const std::size_t place : of_stage) shape.places.push_back({place});
  shape.ties = ties.ties;
  shape.tied_first = ties.first;
  shape.tied_last = ties.last;
  const std::vector<std::size_t>& members = family(group, c.schedule);
  std::optional<Filled> found;
  std::vector<Strategy> strategies(static_cast<std::size_t>(group.pipeline), strategy_of(group));
  if (members.size() == 1) {
    // A good plan first: with something to compare with, few labels are left.
    Seconds limit = threshold;
    if (problem_->prunings.beam) {
      const auto beam = filler_.fill(options, shape, threshold, counts, LabelLimit::beam);
      if (beam) limit = std::min(limit, beam->step);
    }
    found = filler_.fill(options, shape, limit, counts);
  } else {
    std::vector<Strategy> all;
    all.reserve(members.size());
    for (const std::size_t member : members) all.push_back(problem_->strategies[member]);
    MixedFiller filler(costs, filler_);
    const NetworkOptions network_options{c.zero.shards_anything() ? placement.zero_shards : 0, false,
                                         ties.first, ties.last};
    auto mixed = filler.fill({batch, all, options.setting(), shape, placement, group.copies, network_options},
                             threshold, counts);
    if (mixed) {
      found = std::move(mixed->filled);
      strategies = std::move(mixed->strategies);
    }
  }
  if (!found) return std::nullopt;
  Best best{found->step, make_plan(c, placement)};
  for (std::size_t i = 0; i < found->stages.size(); ++i) {
    Stage& stage = best.plan.stages[i];
    stage.layers = batch.sets->stage(found->stages[i].from, found->stages[i].to);
    stage.recompute = found->stages[i].recompute;
    stage.strategy = strategies[i];
    stage.strategy.expert_tensor = strategies[i].expert_tensor_degree();
  }
  return best;
}

}  // namespace nest::solve
