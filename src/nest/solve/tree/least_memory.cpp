#include "nest/solve/tree/least_memory.hpp"

#include <algorithm>
#include <unordered_map>

#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/placements/relaxed.hpp"
#include "nest/solve/table/interleaved_stage.hpp"

namespace nest::solve {
namespace {

const Shapes kNowhere;

// Every chain of downsets, the fullest stage of each.
Bytes least_of_cuts(StageOptions& options, Bytes below, bool ordered, const Deadline& deadline) {
  const StageSetting& setting = options.setting();
  const LayerSets& sets = *setting.sets;
  std::vector<Bytes> after(sets.size(), Bytes::most());
  after[0] = Bytes{0};
  for (std::int64_t s = 1; s <= setting.shape.stages; ++s) {
    std::vector<Bytes> with(sets.size(), Bytes::most());
    const std::int64_t held = in_flight(setting.schedule, setting.shape, setting.shape.stages - s);
    for (std::size_t state = 0; state < sets.size(); ++state) {
      if (after[state] >= below) continue;
      for (const Move& move : sets.moves(static_cast<std::int32_t>(state))) {
        deadline.glance();
        Bytes own = options.least_total(0, move.stage_class, held);
        if (own < below) {
          own = Bytes::most();
          for (const StageOption& option : options.of(0, move.stage_class))
            own = std::min(own, option.total(held));
        }
        if (own >= below && ordered) break;
        Bytes& best = with[static_cast<std::size_t>(move.to)];
        best = std::min(best, std::max(own, after[state]));
      }
    }
    after = std::move(with);
  }
  return after.back();
}

Bytes least_of_splits(StageOptions& options, const LayerGraph& graph, Bytes below, const Deadline& deadline) {
  const StageSetting& setting = options.setting();
  const std::int64_t p = setting.shape.stages;
  const std::vector<std::vector<std::int32_t>> splits = interleaved_splits(graph, p, setting.shape.chunks);
  StageContents contents(graph, *setting.sets);
  std::unordered_map<std::int32_t, StageVariants>
      known;  // by content: who is first or last does not matter here
  Bytes least = below;
  for (const std::vector<std::int32_t>& split : splits) {
    deadline.look();
    Bytes fullest;
    const std::vector<std::int32_t>& stages =
        contents.of_split(split, setting.schedule, static_cast<std::size_t>(p));
    for (std::int64_t i = 0; i < p && fullest < least; ++i) {
      const std::int32_t content = stages[static_cast<std::size_t>(i)];
      StageVariants& variants =
          known
              .try_emplace(content, setting, options.places().front(),
                           InterleavedPlace{0, &kNowhere, &kNowhere}, contents.at(content))
              .first->second;
      Bytes own = variants.least_need(i);
      if (own < least) {
        own = Bytes::most();
        variants.complete();
        for (StageVariant& variant : variants.all()) own = std::min(own, variants.need(variant, i));
      }
      fullest = std::max(fullest, own);
    }
    least = std::min(least, fullest);
  }
  return least;
}

// Of which groups of `near` ranks may keep a part; 0: none.
std::int64_t most_shards(const SearchSpace& space, std::int64_t ranks, std::int64_t near) {
  std::int64_t most = 0;
  for (const std::int64_t size : divisors(ranks)) {
    const bool allowed = space.zero_shards.open() || space.zero_shards.has(size);
    if (allowed && resharding_group_fits(near, size)) most = size;
  }
  return most;
}

Bytes least_memory(const SearchProblem& problem, const Degrees& degrees, Bytes below,
                   const Deadline& deadline) {
  SearchCosts& costs = *problem.costs;
  const SearchSpace& space = *problem.space;
  const Batch& batch = costs.batches()[degrees.batch];
  const Strategy& strategy = problem.strategies[degrees.strategy];
  const std::int64_t ranks = degrees.copies * strategy.cell() / strategy.tensor;
  RelaxedNetwork network = relaxed_network(costs.inputs().cluster, costs.constants(), costs.collectives(),
                                           {.strategy = strategy, .copies = degrees.copies});
  if (!space.zero_shards.open()) {
    std::int64_t most = 1;
    for (const std::int64_t size : divisors(ranks)) most = space.zero_shards.has(size) ? size : most;
    network.stage.dense.shards = most;
  }
  const std::int64_t all_shards = network.stage.dense.shards;
  const std::int64_t all_expert_shards = network.stage.expert.shards;
  std::vector<RecomputeChoices> policies{problem.recompute};
  std::vector<Recompute> alike;  // of these, where all stages have the same
  if (space.same_recompute || (space.rules != nullptr && space.rules->same_recompute)) {
    policies.clear();
    for (const Recompute& r : problem.recompute.uniform(static_cast<std::int64_t>(batch.sets->layers()))) {
      policies.emplace_back(r, problem.recompute);
      alike.push_back(r);
    }
  }
  const std::vector<Zero> zeros = zero_values(space, strategy, ranks, degrees.pipeline);
  // Whichever layers come first, they stay gathered.
  const bool first_stays =
      std::ranges::any_of(zeros, [](Zero zero) { return zero.resharding().kind == Resharding::Kind::first; });
  // A longer stage holds what a shorter one does and more, where every recomputation is there to choose;
  // copies of weights may go where it comes to hold their owner, and buffers where its boundary is smaller.
  const bool ordered = batch.sets->chain() && space.recompute.empty() && policies.size() == 1 &&
                       batch.graph->tied().empty() && costs.coster().recipe().stage_buffers == 0 &&
                       !first_stays;
  Bytes least = below;
  const auto ask = [&](Zero zero, Schedule schedule, std::int64_t v) {
    const std::int64_t near = zero.resharding().group();
    network.stage.dense.shards = near > 0 ? most_shards(space, ranks, near) : all_shards;
    if (network.stage.dense.shards == 0) return;
    network.stage.dense.near = near > 0 ? shards_of(network.stage.dense.shards, near) : 0;
    network.stage.expert.near = near > 0 ? shards_of(all_expert_shards, near) : 0;
    const Place place = costs.place(batch, strategy, network.stage, false);
    Parallelism degrees_of;
    degrees_of.strategy = strategy;
    degrees_of.schedule = schedule;
    degrees_of.interleave = v;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      if (!alike.empty() && space.rules != nullptr && !space.rules->allows(degrees_of, alike[i])) continue;
      const RecomputeChoices& policy = policies[i];
      StageSetting setting;
      setting.sets = batch.sets;
      setting.micro_batch_scale = batch.scale;
      setting.coster = &costs.coster();
      setting.recompute = &policy;
      setting.ends = &kNowhere;
      setting.zero = zero;
      setting.schedule = schedule;
      setting.shape = {degrees.pipeline, degrees.micro_batches, v};
      StageOptions options(setting, {place});
      const Bytes need = schedule_of(schedule).chunked()
                             ? least_of_splits(options, *batch.graph, least, deadline)
                             : least_of_cuts(options, least, ordered, deadline);
      least = std::min(least, need);
    }
  };
  for (const Zero zero : zeros) {
    for (const Schedule schedule : schedule_values(space)) {
      if (!problem.goes_with(strategy, schedule)) continue;
      for (const std::int64_t v : interleave_values(space)) {
        if (v > static_cast<std::int64_t>(batch.sets->layers()) / degrees.pipeline ||
            !runs_with(schedule, {degrees.pipeline, degrees.micro_batches, v}))
          continue;
        ask(zero, schedule, v);
      }
    }
  }
  return least;
}

// Cells may fit a cluster by their number and have no place in its domains: two devices in nodes of three.
bool has_place(const SearchProblem& problem, const Degrees& degrees) {
  Configuration c;
  c.degrees = static_cast<std::size_t>(&degrees - problem.degrees.data());
  const PlacementQuestion question = problem.placement_question(c, ShardKind::any, 0, 0);
  return problem.placements->usual(question).has_value() || !problem.placements->of(question)->empty();
}

}  // namespace

Bytes least_memory(const SearchProblem& problem, const Deadline& deadline) {
  Bytes least = Bytes::most();
  // Those that hold least first, so that most others need no look inside.
  std::vector<const Degrees*> all;
  all.reserve(problem.degrees.size());
  for (const Degrees& degrees : problem.degrees) all.push_back(&degrees);
  std::sort(all.begin(), all.end(), [](const Degrees* a, const Degrees* b) {
    return a->memory != b->memory ? a->memory < b->memory : a < b;
  });
  for (const Degrees* degrees : all) {
    if (degrees->memory >= least) break;
    deadline.look();
    if (has_place(problem, *degrees)) least = least_memory(problem, *degrees, least, deadline);
  }
  return least == Bytes::most() ? Bytes{0} : problem.costs->coster().on_device(least);
}

}  // namespace nest::solve
