#include "nest/solve/tree/evaluator.hpp"

#include <algorithm>
#include <limits>

#include "nest/plan/plan.hpp"
#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/strategies/strategy.hpp"

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

const std::vector<std::size_t>& Evaluator::strategies_beside(const Degrees& degrees, Schedule schedule) {
  const bool mixed = degrees.pipeline > 1 && problem_->mixed(schedule);
  const auto [at, made] = beside_.try_emplace({degrees.batch, degrees.strategy, mixed});
  std::vector<std::size_t>& all = at->second;
  if (!made) return all;
  all.push_back(degrees.strategy);
  if (!mixed) return all;
  const Strategy& first = strategy_of(degrees);
  for (std::size_t s = 0; s < problem_->strategies.size(); ++s) {
    const Strategy& other = problem_->strategies[s];
    if (s != degrees.strategy && problem_->goes_with(other, schedule) && other.cell() == first.cell() &&
        other.side() == first.side() && problem_->costs->refusal(batch_of(degrees), other).empty())
      all.push_back(s);
  }
  return all;
}

const RelaxedNetwork& Evaluator::relaxed(std::size_t strategy, std::int64_t copies, ShardKind kind,
                                         Zero zero) {
  std::unique_ptr<RelaxedNetwork>& network =
      relaxed_[{strategy, copies, kind, kind == ShardKind::part ? zero.number() : 0}];
  if (!network) {
    network = std::make_unique<RelaxedNetwork>(
        problem_->placements->relaxed(problem_->costs->collectives(), strategy, copies, kind, zero));
  }
  return *network;
}

StageSetting Evaluator::setting(const Configuration& c, const RecomputeChoices& recompute,
                                const Shapes& ends) const {
  const Degrees& degrees = problem_->degrees[c.degrees];
  const Batch& batch = batch_of(degrees);
  StageSetting setting;
  setting.sets = batch.sets;
  setting.micro_batch_scale = batch.scale;
  setting.coster = &problem_->costs->coster();
  setting.recompute = &recompute;
  setting.ends = &ends;
  setting.zero = c.zero;
  setting.schedule = c.schedule;
  setting.shape = {degrees.pipeline, degrees.micro_batches, c.interleave};
  return setting;
}

FillQuestion Evaluator::fill_question(const Configuration& c) const {
  const Degrees& degrees = problem_->degrees[c.degrees];
  FillQuestion question;
  question.pipeline = {&pipeline_form(c.schedule, problem_->pipeline_model), degrees.pipeline,
                       degrees.micro_batches};
  question.capacity = problem_->costs->capacity();
  return question;
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

std::optional<Completions> Evaluator::completions(StageOptions& options, FillQuestion& question,
                                                  Seconds threshold, FillCounts& counts) const {
  std::optional<Completions> made;
  if (!problem_->prunings.completions || threshold == Seconds::most() || question.pipeline.stages < 3 ||
      question.pipeline.stages > static_cast<std::int64_t>(options.setting().sets->layers()))
    return made;
  made.emplace(options, question, problem_->prunings, threshold, counts);
  return made;
}

std::optional<Seconds> Evaluator::relaxed_bound(const Configuration& c, ShardKind kind, Seconds threshold,
                                                FillCounts& counts) {
  const Degrees& degrees = problem_->degrees[c.degrees];
  const Batch& batch = batch_of(degrees);
  const Waiting waiting = this->waiting(degrees);
  threshold = waiting.before(threshold);
  SearchCosts& costs = *problem_->costs;
  const RecomputeChoices only = problem_->recompute_of(c);
  StageSetting own = setting(c, only, kNowhere);
  if (kind == ShardKind::any) {
    own.any_zero = true;
    own.zero = Zero::kMost;
  }
  const std::vector<std::size_t>& members = strategies_beside(degrees, c.schedule);
  const RelaxedNetwork& network = relaxed(degrees.strategy, degrees.copies, kind, c.zero);
  std::vector<Place> places;
  std::vector<std::size_t> all;
  for (const std::size_t member : members) {
    // Shards are counted for the first stage's strategy: what others make of them is not known here.
    const RelaxedNetwork& n =
        relaxed(member, degrees.copies, member == degrees.strategy ? kind : ShardKind::any, c.zero);
    all.push_back(places.size());
    places.push_back(costs.place(batch, problem_->strategies[member], n.stage, n.collectives));
  }
  StageOptions options(own, std::move(places));
  if (schedule_of(c.schedule).chunked()) {
    InterleavedQuestion shape{degrees.pipeline, degrees.micro_batches, c.interleave, problem_->pipeline_model,
                              costs.capacity()};
    shape.places.assign(static_cast<std::size_t>(degrees.pipeline), 0);
    shape.wrap = &network.stage.from_next;
    shape.bound = true;
    shape.schedule = c.schedule;
    const auto found = interleaved(batch).fill(options, shape, splits(batch, degrees.pipeline, c.interleave),
                                               threshold, counts);
    return found ? std::optional(waiting.of(found->step)) : std::nullopt;
  }
  FillQuestion question = fill_question(c);
  question.places.assign(static_cast<std::size_t>(degrees.pipeline), all);
  question.places.front() = {0};
  question.bound = true;
  const auto completions = this->completions(options, question, threshold, counts);
  question.completions = completions ? &*completions : nullptr;
  const auto found = filler_.fill(options, question, threshold, counts, LabelLimit::bound);
  return found ? std::optional(waiting.of(found->step)) : std::nullopt;
}

std::optional<Evaluator::Estimate> Evaluator::estimate(const Configuration& c, ShardKind kind,
                                                       FillCounts& counts) {
  const Degrees& degrees = problem_->degrees[c.degrees];
  const RelaxedNetwork& network = relaxed(degrees.strategy, degrees.copies, kind, c.zero);
  const RecomputeChoices only = problem_->recompute_of(c);
  StageOptions options(
      setting(c, only, kNowhere),
      {problem_->costs->place(batch_of(degrees), strategy_of(degrees), network.stage, network.collectives)});
  FillQuestion question = fill_question(c);
  question.places.assign(static_cast<std::size_t>(degrees.pipeline), {0});
  const auto found = filler_.guess(options, question, counts);
  if (!found) return std::nullopt;
  Estimate estimate{waiting(degrees).of(found->step), {FillQuestion::Ties::none, 0, 0}};
  for (std::size_t i = 0; i < found->stages.size(); ++i) {
    if (!found->stages[i].splits_tied) continue;
    const bool first = estimate.ties.ties == FillQuestion::Ties::none;
    estimate.ties = {FillQuestion::Ties::between, first ? i : estimate.ties.first, i};
  }
  return estimate;
}

Seconds Evaluator::network_bound(const Configuration& c, const Placement& placement) {
  const Degrees& degrees = problem_->degrees[c.degrees];
  if (strategies_beside(degrees, c.schedule).size() > 1) return {};
  const Batch& batch = batch_of(degrees);
  SearchCosts& costs = *problem_->costs;
  std::vector<std::size_t> of_stage;
  const PlanNetwork& network = *placement.network;
  const StageOptions options(setting(c, problem_->recompute, kNowhere),
                             places_of(costs, batch, strategy_of(degrees), network, of_stage));
  const auto all = batch.sets->outside(0);
  std::vector<StagePass> by_kind;
  Seconds f;
  Seconds b;
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    f += all[kind] * options.least_forward(kind);
    b += all[kind] * options.least_backward(kind);
    by_kind.push_back({options.least_forward(kind).value, options.least_backward(kind).value});
  }
  const Bytes bytes = boundary_bytes(batch.least_boundary, strategy_of(degrees));
  const Bytes back = boundary_bytes(batch.least_returning, strategy_of(degrees));
  const auto least = [&](Bytes sent, const Shapes& pairs) {
    return costs.coster().receive(sent, pairs, Seconds{std::numeric_limits<double>::max()}, c.schedule);
  };
  Seconds sends;
  Seconds returns;
  const Shapes* last = nullptr;
  Seconds time;
  Seconds time_back;
  for (std::size_t i = 0; i + 1 < network.stages.size(); ++i) {
    const Shapes& pairs = network.stages[i].from_next;
    if (last == nullptr || !(pairs == *last)) {
      time = least(bytes, pairs);
      time_back = back == bytes ? time : least(back, pairs);
      last = &pairs;
    }
    sends += time;
    returns += time_back;
  }
  sends = sends * static_cast<double>(c.interleave);
  returns = returns * static_cast<double>(c.interleave);
  return bound_of(degrees, c.schedule, c.interleave, {f + sends, b + returns, by_kind});
}

Plan Evaluator::make_plan(const Configuration& c, const Placement& placement) const {
  const PlanDegrees own = problem_->plan_degrees(SearchProblem::placed(c, placement));
  Plan plan;
  plan.training = own.training;
  plan.parallelism = own.parallelism;
  Parallelism& p = plan.parallelism;
  p.strategy.expert_tensor = p.strategy.expert_tensor_degree();
  plan.stages.resize(static_cast<std::size_t>(p.pipeline));
  for (Stage& stage : plan.stages) stage.strategy = p.strategy;
  return plan;
}

std::optional<Evaluator::Best> Evaluator::best(const Configuration& c, const Placement& placement,
                                               const TieQuestion& ties, Seconds threshold, FillCounts& counts,
                                               Effort effort) {
  const Degrees& degrees = problem_->degrees[c.degrees];
  const Batch& batch = batch_of(degrees);
  const Waiting waiting = this->waiting(degrees);
  threshold = waiting.before(threshold);
  SearchCosts& costs = *problem_->costs;
  const PlanNetwork& network = *placement.network;
  std::vector<std::size_t> of_stage;
  const RecomputeChoices only = problem_->recompute_of(c);
  StageOptions options(setting(c, only, network.tied),
                       places_of(costs, batch, strategy_of(degrees), network, of_stage));
  if (schedule_of(c.schedule).chunked()) {
    InterleavedQuestion shape{degrees.pipeline, degrees.micro_batches,
                              c.interleave,     problem_->pipeline_model,
                              costs.capacity(), std::move(of_stage),
                              &network.wrap,    ties.ties,
                              ties.first,       ties.last};
    shape.schedule = c.schedule;
    if (effort != Effort::exact) shape.most_splits = effort == Effort::beam ? 4 : 1;
    const auto& all = splits(batch, degrees.pipeline, c.interleave);
    const auto found = interleaved(batch).fill(options, shape, all, threshold, counts);
    if (!found) return std::nullopt;
    Best best{waiting.of(found->step), make_plan(c, placement)};
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
  FillQuestion question = fill_question(c);
  for (const std::size_t place : of_stage) question.places.push_back({place});
  question.ties = ties.ties;
  question.tied_first = ties.first;
  question.tied_last = ties.last;
  const std::vector<std::size_t>& members = strategies_beside(degrees, c.schedule);
  std::optional<Filled> found;
  std::vector<Strategy> strategies(static_cast<std::size_t>(degrees.pipeline), strategy_of(degrees));
  if (effort == Effort::guess) {
    found = filler_.guess(options, question, counts);
  } else if (effort == Effort::beam) {
    found = filler_.fill(options, question, threshold, counts, LabelLimit::beam);
  } else if (members.size() == 1) {
    // A good plan first: with something to compare with, few labels are left.
    Seconds limit = threshold;
    std::optional<Filled> beam;
    if (problem_->prunings.beam && threshold == Seconds::most())
      beam = filler_.fill(options, question, threshold, counts, LabelLimit::beam);
    if (beam) limit = std::min(limit, beam->step);
    try {
      // Most tables have nothing to offer, which few labels show.
      const auto completions = this->completions(options, question, limit, counts);
      question.completions = completions ? &*completions : nullptr;
      bool hopeless = false;
      if (problem_->prunings.melted_bound && degrees.pipeline > 2) {
        const auto melted = filler_.fill(options, question, limit, counts, LabelLimit::bound);
        hopeless = !melted;
        if (melted) counts.bound = waiting.of(melted->step);
      }
      if (!hopeless) found = filler_.fill(options, question, limit, counts);
    } catch (const PutOff&) {
      // What is not looked through now may still have a good plan to offer.
      counts.patience = 0;
      counts.put_off = true;
      found = beam ? std::move(beam) : filler_.fill(options, question, limit, counts, LabelLimit::beam);
    } catch (const Stopped&) {
      if (!beam) throw;
      found = std::move(beam);
      ++counts.cut_short;
      counts.broken_off = true;
    }
  } else {
    std::vector<Strategy> all;
    all.reserve(members.size());
    for (const std::size_t member : members) all.push_back(problem_->strategies[member]);
    MixedFiller filler(costs, filler_);
    const NetworkOptions network_options{c.zero.shards_anything() ? placement.zero_shards : 0, false,
                                         ties.first, ties.last, c.zero.resharding().group()};
    auto mixed =
        filler.fill({batch, all, options.setting(), question, placement, degrees.copies, network_options},
                    threshold, counts);
    if (mixed) {
      found = std::move(mixed->filled);
      strategies = std::move(mixed->strategies);
    }
  }
  if (!found || found->step > threshold) return std::nullopt;
  Best best{waiting.of(found->step), make_plan(c, placement)};
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
