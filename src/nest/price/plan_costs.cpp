#include "nest/price/plan_costs.hpp"

#include <algorithm>

#include "nest/base/hash.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/recompute_walk.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::price {
namespace {

// Whether layer ids of an ascending list follow each other without a gap.
bool is_range(const std::vector<LayerId>& ids) {
  return !ids.empty() && static_cast<std::size_t>(ids.back().value - ids.front().value) + 1 == ids.size();
}

bool holds(const Stage& stage, LayerId id) {
  return std::binary_search(stage.layers.begin(), stage.layers.end(), id);
}

}  // namespace

NetworkOptions PlanCosts::network_options(const Plan& plan, const BuiltModel& model) {
  const Parallelism& p = plan.parallelism;
  NetworkOptions options{p.zero.shards_anything() ? p.zero_shards : 0, schedule_of(p.schedule).wraps()};
  options.near = p.zero.resharding().group();
  tied_.assign(plan.stages.size(), {});
  std::size_t first = plan.stages.size();
  std::size_t last = 0;
  for (const TiedTensor& t : model.graph.tied()) {
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const Stage& stage = plan.stages[i];
      const auto users =
          std::count_if(t.layers.begin(), t.layers.end(), [&](LayerId id) { return holds(stage, id); });
      if (users == 0 || users == static_cast<std::ptrdiff_t>(t.layers.size())) continue;
      const double mine = static_cast<double>(t.parameters) / static_cast<double>(stage.strategy.tensor);
      if (t.frozen) {
        if (!holds(stage, t.layers.front())) tied_[i].frozen += mine;
        continue;
      }
      if (!holds(stage, t.layers.front())) tied_[i].copied += mine;
      tied_[i].summed += mine;
      first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  if (first < last) {
    options.tied_first = first;
    options.tied_last = last;
  }
  return options;
}

void PlanCosts::add_up(const Plan& plan, const BuiltModel& model, const PlanNetwork& network) {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  parts_.resize(plan.stages.size() * v);
  const LayerTable* last_table = nullptr;
  const CellNetwork* last_cell = nullptr;
  LayerPolicy last_policy;
  const Resharding& resharding = plan.parallelism.zero.resharding();
  const bool some = resharding.kind == Resharding::Kind::first;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    const auto table = [&](const LayerPolicy& policy) -> const LayerTable& {
      const CellNetwork* cell = network.stages[i].cell.get();
      if (last_table == nullptr || policy != last_policy || cell != last_cell) {
        last_table = &book_->table(plan.training, stage.strategy, policy, network.stages[i]);
        last_policy = policy;
        last_cell = cell;
      }
      return *last_table;
    };
    RecomputeWalk walk(stage.recompute);
    std::int64_t left = resharding.number;  // layers that stay gathered
    for (std::size_t c = 0; c < v; ++c) {
      const std::vector<LayerId>& ids = v == 1 ? stage.layers : stage.chunks[c];
      Part& part = parts_[i * v + c];
      part.signature = 0;
      if (stage.recompute.layers == 0 && !some && is_range(ids)) {
        const LayerTable& costs = table(stage.recompute.chosen());
        const std::size_t first = ids.front().index();
        const std::size_t last = ids.back().index() + 1;
        part.table = &costs;
        part.signature = costs.signature(first, last);
        part.terms = costs.range(first, last);
        continue;
      }
      part.terms = part.first = {};
      for (const LayerId id : ids) {
        const LayerTerms& own = table(walk.next(model.graph.recomputes(id))).of(id);
        part.terms += own;
        if (some && left-- > 0) part.first += own;
      }
    }
  }
}

void PlanCosts::add_boundaries(const Plan& plan, const BuiltModel& model) {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  const std::size_t p = plan.stages.size();
  const std::size_t count = p * v;
  if (count == 1) {
    parts_[0].forward = parts_[0].backward = Bytes{};
    return;
  }
  const auto place = [&](std::size_t at) {
    return v == 1 ? ChunkPlace{at, 0} : place_of_part(plan.parallelism.schedule, p, at);
  };
  const auto ids = [&](std::size_t at) -> const std::vector<LayerId>& {
    const Stage& stage = plan.stages[place(at).stage];
    return v == 1 ? stage.layers : stage.chunks[place(at).chunk];
  };
  const auto part = [&](std::size_t at) -> Part& { return parts_[place(at).stage * v + place(at).chunk]; };
  bool ranges = true;  // in order, so that cuts lie between neighbours
  for (std::size_t at = 0; at < count && ranges; ++at) {
    ranges = is_range(ids(at)) && (at == 0 || ids(at - 1).back().value + 1 == ids(at).front().value);
  }
  std::vector<Bytes> general;
  std::vector<Bytes> returning;
  if (!ranges) {
    std::vector<std::int32_t> part_of(model.graph.layers(), 0);
    for (std::size_t at = 0; at < count; ++at) {
      for (const LayerId id : ids(at)) part_of[id.index()] = static_cast<std::int32_t>(at);
    }
    general = model.graph.crossing(part_of, count);
    returning = model.graph.returning(part_of, count);
  }
  part(0).forward = Bytes{};
  part(count - 1).backward = Bytes{};
  for (std::size_t at = 1; at < count; ++at) {
    const std::size_t from = place(at - 1).stage;
    const std::size_t to = place(at).stage;
    // What a device makes for itself goes nowhere.
    const Bytes whole = from == to ? Bytes{}
                        : ranges   ? model.graph.crossing_before(ids(at).front())
                                   : general[at - 1];
    part(at).forward = boundary_bytes(whole, plan.stages[to].strategy);
    const Bytes back = from == to ? Bytes{}
                       : ranges   ? model.graph.returning_before(ids(at).front())
                                  : returning[at - 1];
    part(at - 1).backward = boundary_bytes(back, plan.stages[from].strategy);
  }
}

void PlanCosts::cost_stage(const Plan& plan, const PlanNetwork& network, const StageCoster& coster,
                           std::size_t i, StageCost& cost) const {
  const Parallelism& p = plan.parallelism;
  const auto v = static_cast<std::size_t>(p.interleave);
  const StageNetwork& own = network.stages[i];
  const auto sender = [&](std::size_t c, Direction direction) -> const Shapes& {
    const bool backward = direction == Direction::backward;
    if (v == 1) return backward ? own.from_next : own.from_previous;
    const ChunkSource source = source_of(p.schedule, plan.stages.size(), v, {i, c}, backward);
    return source == ChunkSource::previous ? own.from_previous
           : source == ChunkSource::next   ? own.from_next
                                           : network.wrap;
  };
  const bool at_once = hides_in_pairs(p.schedule, plan.stages[i].strategy);
  LayerTerms whole;
  LayerTerms all_first;
  const bool some = p.zero.resharding().kind == Resharding::Kind::first;
  const LayerTerms* first = some ? &all_first : nullptr;
  cost.chunks.resize(v);
  for (std::size_t c = 0; c < v; ++c) {
    const Part& part = parts_[i * v + c];
    ChunkCost& chunk = cost.chunks[c];
    coster.chunk(part.terms, own, p.zero, p.schedule, {p.pipeline, some ? &part.first : nullptr}, chunk);
    if (some) all_first += part.first;
    add_chunk(part.terms, at_once, whole);
    chunk.forward_bytes = part.forward;
    chunk.backward_bytes = part.backward;
    // Frameworks that keep what crosses a boundary apart from the stash keep it as long.
    chunk.stash += coster.recipe().stage_buffers * std::max(part.forward, part.backward);
    chunk.forward_receive = coster.receive(part.forward, sender(c, Direction::forward),
                                           chunk.least_forward_work(), p.schedule, &chunk.forward_hidden);
    chunk.backward_receive = coster.receive(part.backward, sender(c, Direction::backward),
                                            chunk.least_backward_work(), p.schedule, &chunk.backward_hidden);
  }
  coster.add_frozen_copy(tied_[i].frozen, whole);
  const StageStep step{.zero = p.zero,
                       .first = first,
                       .tied = tied_[i].copied,
                       .shared = tied_[i].summed,
                       .ends = &network.tied,
                       .shape = {p.pipeline, plan.training.micro_batches, p.interleave},
                       .schedule = p.schedule};
  coster.step(whole, own, step, cost);
  cost.transient = round_up_bytes(whole.transient);
  cost.memory = coster.memory(whole, own, p.zero, tied_[i].copied, Bytes{0}, {p.pipeline, first});
  cost.gradients = cost.memory.gradients;
}

bool PlanCosts::alike(const Plan& plan, const PlanNetwork& network, std::size_t a, std::size_t b) const {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  if (!(tied_[a] == tied_[b]) || network.stage_class[a] != network.stage_class[b] ||
      !(plan.stages[a].recompute == plan.stages[b].recompute) ||
      !(plan.stages[a].strategy == plan.stages[b].strategy))
    return false;
  for (std::size_t c = 0; c < v; ++c) {
    const Part& x = parts_[a * v + c];
    const Part& y = parts_[b * v + c];
    if (x.signature == 0 || x.signature != y.signature || x.forward != y.forward || x.backward != y.backward)
      return false;
  }
  return true;
}

std::size_t PlanCosts::Hash::operator()(const StageKey& key) const {
  std::size_t hash = static_cast<std::size_t>(key.signature);
  for (const std::size_t part :
       {reinterpret_cast<std::size_t>(key.table), reinterpret_cast<std::size_t>(key.network),
        static_cast<std::size_t>(key.forward) * 31 + static_cast<std::size_t>(key.backward),
        static_cast<std::size_t>(key.zero.number()) * 8 + static_cast<std::size_t>(key.schedule)}) {
    mix_hash(hash, part);
  }
  return hash;
}

void PlanCosts::cost(const Plan& plan, const Setting& setting, std::vector<StageCost>& out) {
  const auto& [model, network, coster, kept] = setting;
  constexpr std::size_t kMostKnown = 1 << 16;
  if (generation_ != book_->generation() || known_.size() > kMostKnown) known_.clear();
  generation_ = book_->generation();
  add_up(plan, model, network);
  add_boundaries(plan, model);
  const Parallelism& p = plan.parallelism;
  const auto v = static_cast<std::size_t>(p.interleave);
  const ScheduleShape shape{p.pipeline, plan.training.micro_batches, p.interleave};
  out.resize(plan.stages.size());
  stashes_.resize(v);
  host_stashes_.resize(v);
  for (std::size_t i = 0; i < out.size(); ++i) {
    StageCost& cost = out[i];
    if (i > 0 && alike(plan, network, i - 1, i)) {
      cost = out[i - 1];
    } else if (kept && v == 1 && parts_[i].signature != 0) {
      const Part& part = parts_[i];
      const StageKey key{part.table,     &network.stages[i], &coster,
                         part.signature, part.forward.value, part.backward.value,
                         p.zero,         p.schedule,         tied_[i]};
      const auto [at, made] = known_.try_emplace(key);
      if (made) cost_stage(plan, network, coster, i, at->second);
      cost = at->second;
    } else {
      cost_stage(plan, network, coster, i, cost);
    }
    for (std::size_t c = 0; c < v; ++c) {
      ChunkCost& chunk = cost.chunks[c];
      chunk.paired =
          paired_share(p.schedule, shape, static_cast<std::int64_t>(i), static_cast<std::int64_t>(c));
      stashes_[c] = chunk.stash;
      host_stashes_[c] = chunk.host_stash;
    }
    cost.memory.activations = peak_stash(p.schedule, shape, static_cast<std::int64_t>(i), stashes_);
    if (coster.recipe().offload.activations)
      cost.memory.host += peak_stash(p.schedule, shape, static_cast<std::int64_t>(i), host_stashes_);
    // The optimizer's moment, where it needs more than the fullest moment of the passes.
    const Bytes passes = cost.memory.activations + cost.memory.workspace;
    if (cost.update > passes) cost.memory.workspace += cost.update - passes;
    // Fresh gradients take the room of activations first: what is left of them counts.
    const Bytes fresh = coster.fresh(cost.gradients, plan.training.micro_batches);
    if (fresh.value > 0) {
      const Bytes most = std::max(passes, cost.update + fresh);
      cost.memory.gradients = most - cost.memory.activations - cost.memory.workspace;
    }
    cost.memory.fragmentation = coster.fragmentation(cost.memory.allocated());
  }
}

}  // namespace nest::price
