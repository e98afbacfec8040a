// Bounds of degrees that cost next to nothing: sums over all layers, made once for each strategy.
#include <algorithm>
#include <limits>
#include <utility>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/solve/tree/evaluator.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::solve {

const Evaluator::Sums& Evaluator::sums(const Degrees& degrees, Schedule schedule) {
  const std::vector<std::size_t>& members = strategies_beside(degrees, schedule);
  const SumsKey key{degrees.batch, degrees.strategy, schedule_of(schedule).hides_chunk_sends,
                    members.size() > 1};
  const auto [at, made] = sums_.try_emplace(key);
  Sums& sums = at->second;
  if (!made) return sums;
  const Batch& batch = batch_of(degrees);
  SearchCosts& costs = *problem_->costs;
  std::vector<Place> places;
  sums.send = sums.returns = Seconds::most();
  for (const std::size_t member : members) {
    const Strategy& strategy = problem_->strategies[member];
    const RelaxedNetwork& network = relaxed(member, 1, ShardKind::any);
    places.push_back(costs.place(batch, strategy, network.stage, network.collectives));
    LayerTerms all;
    const auto counts = batch.sets->outside(0);
    for (const Term term : {Term::dense_parameters, Term::expert_parameters, Term::low_parameters,
                            Term::frozen_dense, Term::frozen_expert}) {
      for (std::size_t kind = 0; kind < counts.size(); ++kind)
        all.of(term) += counts[kind] * places.back().tables.front()->of(batch.sets->example(kind)).of(term);
      double& least = sums.parameters.of(term);
      least = places.size() == 1 ? all.of(term) : std::min(least, all.of(term));
    }
    // Muon holds less of matrices than Adam of others: the most of them, and no more than there are parameters.
    for (const Term term :
         {Term::matrix_dense, Term::matrix_expert, Term::matrices_dense, Term::matrices_expert}) {
      for (std::size_t kind = 0; kind < counts.size(); ++kind)
        all.of(term) += counts[kind] * places.back().tables.front()->of(batch.sets->example(kind)).of(term);
      sums.parameters.of(term) = std::max(sums.parameters.of(term), all.of(term));
    }
    for (const auto& [part, whole] : {std::pair{Term::matrix_dense, Term::dense_parameters},
                                      {Term::matrix_expert, Term::expert_parameters}})
      sums.parameters.of(part) = std::min(sums.parameters.of(part), sums.parameters.of(whole));
    // What every boundary sends at least, either way.
    for (const auto& [least, sum] :
         {std::pair{batch.least_boundary, &sums.send}, {batch.least_returning, &sums.returns}}) {
      const Seconds send = costs.coster().receive(boundary_bytes(least, strategy), network.stage.from_next,
                                                  Seconds{std::numeric_limits<double>::max()}, schedule);
      *sum = std::min(*sum, send);
    }
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
    sums.by_kind.push_back({f.value, b.value});
  }
  return sums;
}

// Some stage has at least the mean number of every kind of layers, rounded up.
Seconds Evaluator::bound_of(const Degrees& degrees, Schedule schedule, std::int64_t interleave,
                            const Passes& passes) {
  const auto& [f, b, by_kind] = passes;
  const Batch& batch = batch_of(degrees);
  const auto all = batch.sets->outside(0);
  StagePass longest;  // of one kind
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const auto count = static_cast<std::int64_t>(all[kind]);
    const std::int64_t layers = (count + degrees.pipeline - 1) / degrees.pipeline;
    const auto most = static_cast<double>(layers);
    const StagePass own{most * by_kind[kind].f, most * by_kind[kind].b};
    if (own.f + own.b > longest.f + longest.b) longest = own;
  }
  const Waiting waiting = this->waiting(degrees);
  const Seconds u{longest.f + longest.b};
  if (schedule_of(schedule).chunked()) {
    if (problem_->pipeline_model == PipelineModel::one_f_one_b)
      return waiting.of(Seconds{schedule_of(schedule).bound(
          {degrees.pipeline, degrees.micro_batches, interleave}, (f + b).value, u.value)});
    return waiting.of(static_cast<double>(degrees.micro_batches) *
                      std::max(u, (f + b) / static_cast<double>(degrees.pipeline)));
  }
  return waiting.of(pipeline_bound(
      {&pipeline_form(schedule, problem_->pipeline_model), degrees.pipeline, degrees.micro_batches}, f, b,
      longest));
}

Seconds Evaluator::quick_bound(const Degrees& degrees, Schedule schedule, std::int64_t interleave) {
  const Sums& s = sums(degrees, schedule);
  const ScheduleShape shape{degrees.pipeline, degrees.micro_batches, interleave};
  const auto boundaries = static_cast<double>(sending_boundaries(schedule, shape));
  return bound_of(degrees, schedule, interleave,
                  {s.f + boundaries * s.send, s.b + boundaries * s.returns, s.by_kind});
}

Bytes Evaluator::memory_floor(const Degrees& degrees) {
  const SearchSpace& space = *problem_->space;
  std::int64_t zero = Zero::kMost;
  while (zero > 0 && !space.zero.has(zero)) --zero;
  // Of all strategies that stages may have: as many ranks as share anything.
  const std::int64_t ranks = degrees.copies * strategy_of(degrees).cell();
  StageNetwork network;
  network.dense.shards = network.expert.shards = ranks;
  const std::vector<std::size_t>& members = strategies_beside(degrees, Schedule::one_f_one_b);
  if (members.size() == 1) {
    const Strategy& s = strategy_of(degrees);
    network.dense.shards = ranks / s.tensor;
    network.expert.shards = ranks / (s.expert_tensor_degree() * s.expert);
  }
  const StageMemory m = problem_->costs->coster().memory(sums(degrees, Schedule::one_f_one_b).parameters,
                                                         network, zero, 0, Bytes{0});
  return Bytes{(m.weights + m.gradients + m.optimizer).value / degrees.pipeline};
}

}  // namespace nest::solve
