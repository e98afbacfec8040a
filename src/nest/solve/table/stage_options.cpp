#include "nest/solve/table/stage_options.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "nest/plan/recompute_walk.hpp"
#include "nest/price/layers/pass_work.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::solve {
namespace {

constexpr std::int64_t kRoundingPart = 1'000'000'000;

// What recomputation leaves as it is, as far as the order of options goes.
constexpr std::array kSame{Term::forward,           Term::forward_tensor,  Term::forward_expert,
                           Term::forward_context,   Term::backward_weight, Term::dense_parameters,
                           Term::expert_parameters, Term::low_parameters,  Term::layers,
                           Term::frozen_dense,      Term::frozen_expert,   Term::forward_offload};

// With what copies to host memory add.
Seconds backward_time(const LayerTerms& t) {
  return Seconds{backward_work(t) + t.of(Term::backward_offload)};
}

// `terms`: how many `one` has (LayerTable::terms).
void add(LayerTerms& sum, const LayerTerms& one, double times, std::size_t terms) {
  for (std::size_t k = 0; k < terms; ++k) sum.sums[k] += times * one.sums[k];
  sum.transient = std::max(sum.transient, one.transient);
  sum.largest_parameters = std::max(sum.largest_parameters, one.largest_parameters);
  sum.largest_gathered = std::max(sum.largest_gathered, one.largest_gathered);
}

// The same of what a pair of passes takes: then it grows with its backward pass.
constexpr std::array kSameInPairs{Term::forward_alone, Term::backward_alone, Term::backward_input};

bool same_apart_from_recomputation(const LayerTerms& a, const LayerTerms& b, bool pairs) {
  const auto same = [&](Term term) {
    return std::abs(a.of(term) - b.of(term)) <= 1e-12 * std::abs(a.of(term));
  };
  return std::all_of(kSame.begin(), kSame.end(), same) &&
         (!pairs || std::all_of(kSameInPairs.begin(), kSameInPairs.end(), same));
}

}  // namespace

LayerTerms stage_terms(const LayerSets& sets, const StageClass& of, const Place& place,
                       const Recompute& recompute) {
  LayerTerms terms;
  if (recompute.layers == 0) {
    const LayerTable& table = place.table(recompute.chosen());
    for (std::size_t kind = 0; kind < of.counts.size(); ++kind) {
      if (of.counts[kind] > 0) add(terms, table.of(sets.example(kind)), of.counts[kind], table.terms());
    }
    return terms;
  }
  RecomputeWalk walk(recompute);
  for (const std::uint16_t kind : of.kinds) {
    const LayerTable& table = place.table(walk.next(sets.recomputes(kind)));
    add(terms, table.of(sets.example(kind)), 1, table.terms());
  }
  return terms;
}

LayerTerms first_terms(const LayerSets& sets, const StageClass& of, const Place& place, std::int64_t& left) {
  LayerTerms terms;
  for (const std::uint16_t kind : of.kinds) {
    if (left <= 0) break;
    --left;
    const LayerTable& table = place.table(RecomputePolicy::none);
    add(terms, table.of(sets.example(kind)), 1, table.terms());
  }
  return terms;
}

LayerTerms least_terms(const LayerSets& sets, const StageClass& of, const Place& place) {
  LayerTerms terms;
  for (std::size_t kind = 0; kind < of.counts.size(); ++kind) {
    if (of.counts[kind] == 0) continue;
    LayerTerms least = place.table(RecomputePolicy::none).of(sets.example(kind));
    for (const LayerTable* table : place.tables) {
      if (table == nullptr) continue;
      const LayerTerms& other = table->of(sets.example(kind));
      for (const Term term : {Term::stash, Term::host_stash})
        least.of(term) = std::min(least.of(term), other.of(term));
      least.transient = std::min(least.transient, other.transient);
      least.largest_parameters = std::min(least.largest_parameters, other.largest_parameters);
      least.largest_gathered = std::min(least.largest_gathered, other.largest_gathered);
    }
    add(terms, least, of.counts[kind], place.table(RecomputePolicy::none).terms());
  }
  return terms;
}

namespace {

// Terms of a stage whose first n layers that can recompute fully, for ascending n, each from the one before.
class PartTerms {
 public:
  PartTerms(const LayerSets& sets, const StageClass& of, const Place& place) {
    for (const std::uint16_t kind : of.kinds) {
      const LayerTable& plain = place.table(RecomputePolicy::none);
      const LayerTerms& none = plain.of(sets.example(kind));
      add(sum_, none, 1, plain.terms());
      if (sets.recomputes(kind)) {
        steps_.push_back({&none, &place.table(RecomputePolicy::full).of(sets.example(kind)), 0});
      } else {
        fixed_ = std::max(fixed_, none.transient);
      }
    }
    double later = 0;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      steps_[i].later = later;
      later = std::max(later, steps_[i].none->transient);
    }
  }

  const LayerTerms& of(std::int64_t layers) {
    for (; done_ < static_cast<std::size_t>(layers); ++done_) {
      const Step& step = steps_[done_];
      for (std::size_t k = 0; k < kTerms; ++k) sum_.sums[k] += step.full->sums[k] - step.none->sums[k];
      full_ = std::max(full_, step.full->transient);
      sum_.largest_parameters = std::max(sum_.largest_parameters, step.full->largest_parameters);
      sum_.transient = std::max({fixed_, full_, step.later});
    }
    return sum_;
  }

 private:
  struct Step {
    const LayerTerms* none;
    const LayerTerms* full;
    double later;  // the greatest transient of those after it
  };
  std::vector<Step> steps_;
  LayerTerms sum_;
  double fixed_ = 0;  // transient of layers that cannot recompute
  double full_ = 0;   // of those that do
  std::size_t done_ = 0;
};

}  // namespace

StageOptions::StageOptions(const StageSetting& setting, std::vector<Place> places)
    : setting_(setting), places_(std::move(places)) {
  known_.resize(places_.size());
  none_first_ = setting.recompute != nullptr && setting.recompute->allows(RecomputePolicy::none);
  const std::size_t kinds = setting.sets->kinds();
  const bool pairs = schedule_of(setting.schedule).pairs_passes;
  // Sets of modules run more than none and keep no less than full, and leave forward passes and weight gradients alone:
  // only of pairs of passes their tables say more.
  const std::vector<RecomputeModules> sets =
      pairs && setting.recompute != nullptr ? setting.recompute->modules() : std::vector<RecomputeModules>{};
  least_forward_.assign(kinds, Seconds::most());
  least_backward_ = least_forward_;
  for (const Place& place : places_) {
    std::vector<const LayerTable*> tables(place.tables.begin(), place.tables.end());
    for (const RecomputeModules set : sets) tables.push_back(&place.table({RecomputePolicy::modules, set}));
    for (const LayerTable* table : tables) {
      if (table == nullptr) continue;
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        const LayerTerms& t = table->of(setting.sets->example(kind));
        // Work alone: what copies add to it may be less under a choice that keeps less and works longer.
        least_forward_[kind] = std::min(least_forward_[kind], Seconds{forward_work(t)});
        least_backward_[kind] = std::min(least_backward_[kind], Seconds{backward_work(t)});
        const LayerTable* none = place.tables.front();
        if (none == nullptr) {
          none_first_ = false;
          continue;
        }
        const LayerTerms& plain = none->of(setting.sets->example(kind));
        if (!same_apart_from_recomputation(plain, t, pairs)) ordered_ = false;
        if (backward_time(t) < backward_time(plain)) none_first_ = false;
      }
    }
  }
  // What keeps more copies longer, and may be slower than what works more: no option stands for others.
  if (setting.coster != nullptr && setting.coster->recipe().offload.activations)
    ordered_ = none_first_ = false;
}

StageOptions::Known& StageOptions::known(std::size_t place, std::int32_t stage_class) {
  std::vector<Known>& of_place = known_[place];
  if (of_place.empty()) {
    of_place.resize(setting_.sets->classes().size());
    memory_ += static_cast<std::int64_t>(of_place.size() * sizeof(Known));
  }
  return of_place[static_cast<std::size_t>(stage_class)];
}

std::vector<StageOption>& StageOptions::of(std::size_t place, std::int32_t stage_class) {
  complete(place, stage_class);
  return known(place, stage_class).options;
}

std::vector<StageOption>& StageOptions::first_of(std::size_t place, std::int32_t stage_class) {
  Known& own = known(place, stage_class);
  if (own.made == Made::nothing) {
    if (none_first_) {
      own.options =
          make(place, setting_.sets->classes()[static_cast<std::size_t>(stage_class)], {Recompute{}});
      own.made = Made::first;
      memory_ += static_cast<std::int64_t>(own.options.capacity() * sizeof(StageOption));
    } else {
      complete(place, stage_class);
    }
  }
  return own.options;
}

bool StageOptions::complete(std::size_t place, std::int32_t stage_class) {
  Known& own = known(place, stage_class);
  if (own.made == Made::all) return false;
  const StageClass& of = setting_.sets->classes()[static_cast<std::size_t>(stage_class)];
  std::vector<Recompute> choices = setting_.recompute->of_stage(of.recomputable);
  if (own.made == Made::first) std::erase(choices, Recompute{});
  std::vector<StageOption> others = make(place, of, choices);
  const std::size_t before = own.options.capacity();
  const bool any = !others.empty();
  if (own.options.empty()) {
    own.options = std::move(others);
  } else {
    own.options.insert(own.options.end(), std::make_move_iterator(others.begin()),
                       std::make_move_iterator(others.end()));
  }
  own.made = Made::all;
  memory_ += static_cast<std::int64_t>((own.options.capacity() - before) * sizeof(StageOption));
  return any;
}

std::optional<LayerTerms> StageOptions::first(const Place& where, const StageClass& of) const {
  const Resharding& resharding = setting_.zero.resharding();
  if (resharding.kind != Resharding::Kind::first) return std::nullopt;
  std::int64_t left = resharding.number;
  return first_terms(*setting_.sets, of, where, left);
}

StageOptions::Beside StageOptions::beside(const Place& where, const StageClass& of) const {
  const auto parts = static_cast<double>(where.strategy.tensor);
  const Bytes widest = setting_.micro_batch_scale * std::max(of.before, of.returning);
  return {of.tied_copied / parts, of.tied_frozen / parts,
          setting_.coster->recipe().stage_buffers * boundary_bytes(widest, where.strategy), first(where, of)};
}

StageNeed StageOptions::need(const Place& where, const Beside& beside, LayerTerms& terms) const {
  const StageCoster& coster = *setting_.coster;
  coster.add_frozen_copy(beside.frozen, terms);
  const StageMemory m = coster.memory(terms, *where.network, setting_.zero, beside.tied, Bytes{0},
                                      {setting_.shape.stages, beside.first ? &*beside.first : nullptr});
  const Bytes fresh = coster.fresh(m.gradients, setting_.shape.micro_batches);
  StageNeed need;
  need.fixed = m.weights + m.gradients - fresh + m.optimizer;
  need.workspace = setting_.any_zero
                       ? coster.memory(terms, *where.network, 0, beside.tied, Bytes{0}).workspace
                       : m.workspace;
  need.stash = round_up_bytes(terms.of(Term::stash)) + beside.buffers;
  if (const double host = terms.of(Term::host_stash); host > 0) need.host_stash = round_up_bytes(host);
  need.host_room = m.host_capacity - m.host;
  need.update = coster.update(terms, *where.network, setting_.zero, beside.tied) + fresh;
  return need;
}

Bytes StageOptions::least_total(std::size_t place, std::int32_t stage_class, std::int64_t in_flight) {
  if (!ordered_) return Bytes{0};  // parameters may differ
  Known& own = known(place, stage_class);
  if (!own.weighed) {
    const Place& where = places_[place];
    const StageClass& of = setting_.sets->classes()[static_cast<std::size_t>(stage_class)];
    LayerTerms terms = least_terms(*setting_.sets, of, where);
    own.least = need(where, beside(where, of), terms);
    own.weighed = true;
  }
  const Bytes least = own.least.total(in_flight);
  // Parameters are the same but for rounding.
  return least - Bytes{least.value / kRoundingPart};
}

std::vector<StageOption> StageOptions::make(std::size_t place, const StageClass& of,
                                            const std::vector<Recompute>& choices) const {
  const Place& where = places_[place];
  const Beside beside = this->beside(where, of);
  std::vector<StageOption> options;
  options.reserve(choices.size());
  std::optional<PartTerms> parts;
  for (const Recompute& recompute : choices) {
    StageOption& option = options.emplace_back();
    option.recompute = recompute;
    if (recompute.layers > 0) {
      if (!parts) parts.emplace(*setting_.sets, of, where);
      option.terms = parts->of(recompute.layers);
    } else {
      option.terms = stage_terms(*setting_.sets, of, where, recompute);
    }
    static_cast<StageNeed&>(option) = need(where, beside, option.terms);
    option.layers_b = backward_time(option.terms);
  }
  // Both keep equal ones in order: insertion is faster where there are few, which are mostly in order.
  constexpr std::size_t kFew = 32;
  if (options.size() > kFew) {
    std::vector<std::pair<Seconds, std::size_t>> order;
    order.reserve(options.size());
    for (std::size_t i = 0; i < options.size(); ++i) order.emplace_back(options[i].layers_b, i);
    std::sort(order.begin(), order.end());
    std::vector<StageOption> sorted;
    sorted.reserve(options.size());
    for (const auto& [time, i] : order) sorted.push_back(std::move(options[i]));
    return sorted;
  }
  for (std::size_t i = 1; i < options.size(); ++i) {
    for (std::size_t k = i; k > 0 && options[k].layers_b < options[k - 1].layers_b; --k)
      std::swap(options[k], options[k - 1]);
  }
  return options;
}

void StageOptions::price(std::size_t place, const StageClass& of, StageOption& option) {
  const Place& where = places_[place];
  const StageCoster& coster = *setting_.coster;
  const auto parts = static_cast<double>(where.strategy.tensor);
  scratch_.chunks.resize(1);
  ChunkCost& chunk = scratch_.chunks.front();
  const std::optional<LayerTerms> first = this->first(where, of);
  const LayerTerms* kept = first ? &*first : nullptr;
  coster.chunk(option.terms, *where.network, setting_.zero, setting_.schedule, {setting_.shape.stages, kept},
               chunk);
  const auto bytes = [&](Bytes whole) {
    return boundary_bytes(setting_.micro_batch_scale * whole, where.strategy);
  };
  chunk.forward_receive = coster.receive(bytes(of.before), where.network->from_previous, chunk.forward_work(),
                                         setting_.schedule, &chunk.forward_hidden);
  chunk.backward_receive = coster.receive(bytes(of.returning), where.network->from_next,
                                          chunk.backward_work(), setting_.schedule, &chunk.backward_hidden);
  const StageStep step{.zero = setting_.zero,
                       .first = kept,
                       .tied = of.tied_copied / parts,
                       .shared = of.tied_summed / parts,
                       .ends = setting_.ends,
                       .shape = setting_.shape,
                       .schedule = setting_.schedule};
  coster.step(option.terms, *where.network, step, scratch_);
  option.work_b = chunk.backward_work();
  option.f = chunk.f();
  option.b = chunk.b();
  option.weight = chunk.backward_weight;
  option.hidden = chunk.forward_hidden + chunk.backward_hidden;
  option.alone = scratch_.reduce_alone;
  option.reduce = scratch_.reduce;
  option.gather = scratch_.gather;
  option.slow_down = scratch_.slow_down;
  option.optimizer = scratch_.optimizer;
  option.norm = scratch_.norm;
  option.priced = true;
}

}  // namespace nest::solve
