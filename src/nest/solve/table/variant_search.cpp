#include "nest/solve/table/variant_search.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "nest/price/step_label.hpp"

namespace nest::solve {
namespace {

constexpr std::int64_t kMostTries = 20'000;

bool at_most(double a, double b) {
  return a * kRounding <= b;
}

// Whether a stage takes no longer than `least`, chunk by chunk.
bool at_most(std::span<const double> a, std::span<const double> b) {
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (!at_most(a[c], b[c])) return false;
  }
  return true;
}

// Whether nothing that the price reads is worse: everything is at most as much, and hides at least as much.
bool no_worse(const StageReading& a, const StageReading& b) {
  for (std::size_t c = 0; c < a.passes.size(); ++c) {
    const StagePass& x = a.passes[c];
    const StagePass& y = b.passes[c];
    if (!at_most(x.f, y.f) || !at_most(x.b - x.weight, y.b - y.weight) || !at_most(x.weight, y.weight) ||
        !at_most(x.pair, y.pair))
      return false;
  }
  return at_most(a.hidden, b.hidden) && at_most(a.reduce, b.reduce) && at_most(a.gather, b.gather) &&
         at_most(a.slow_down, b.slow_down) && at_most(a.optimizer, b.optimizer) && at_most(a.norm, b.norm) &&
         at_most(b.hides_f, a.hides_f) && at_most(b.hides_b, a.hides_b);
}

}  // namespace

StageReading VariantSearch::reading(std::size_t stage, const StageVariant& variant) const {
  const StageCost& cost = variant.cost;
  const bool splits = schedule_of(shape_->schedule).splits_backward;
  std::vector<StagePass> passes = variant.passes;
  for (StagePass& pass : passes) pass.weight = splits ? pass.weight : 0;
  return {std::move(passes),
          variant.hidden,
          shared_reduce(cost.reduce_alone.value, cost.reduce.value, stage,
                        static_cast<std::size_t>(shape_->stages)),
          cost.gather.value,
          cost.slow_down.value,
          cost.optimizer.value,
          cost.norm.value,
          variant.passes.front().f,
          splits ? 0 : variant.passes.front().b};
}

VariantSearch::Candidate VariantSearch::priced(StageVariants& of, std::size_t stage,
                                               std::size_t variant) const {
  StageVariant& own = of.all()[variant];
  of.price(own);
  Candidate made{variant, reading(stage, own), 0};
  if (shape_->bound) made.reading.reduce = made.reading.gather = 0;
  return made;
}

// With the same forward passes and weight gradients under every recomputation, all that the price reads grows
// with the work of the chunks, but for what hides.
const VariantSearch::Choices& VariantSearch::choices(StageVariants& of, std::size_t stage) {
  const auto [at, made] = known_.try_emplace({&of, stage});
  Choices& found = at->second;
  if (!made) return found;
  if (of.least_need(static_cast<std::int64_t>(stage)) > shape_->capacity) {
    counts_->work += static_cast<std::int64_t>(of.count());  // all are settled
    return found;
  }
  const bool order = prunings_.option_order && ordered_;
  std::vector<Candidate>& own = found.candidates;
  add_candidates(of, stage, 0, found);
  std::vector<StageVariant>& all = of.all();
  const auto recomputes_nothing = [&](const Candidate& c) {
    return all[c.variant].recompute.policy == RecomputePolicy::none;
  };
  found.sets_too = order && std::ranges::any_of(own, recomputes_nothing);
  if (!found.sets_too) {
    const std::size_t first = all.size();
    of.complete();
    add_candidates(of, stage, first, found);
  }
  // ZeRO's traffic is known now too.
  for (std::size_t k = own.size(); order && own.size() > 1 && k-- > 0;) {
    const std::vector<double>& work = all[own[k].variant].work;
    const auto shorter = [&](const Candidate& c) {
      const std::vector<double>& other = all[c.variant].work;
      return &c != &own[k] && at_most(other, work) && (&c < &own[k] || !at_most(work, other));
    };
    if (!std::any_of(own.begin(), own.end(), shorter)) continue;
    found.longer.push_back(own[k].variant);
    own.erase(own.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return found;
}

// Of the variants from `first` on.
void VariantSearch::add_candidates(StageVariants& of, std::size_t stage, std::size_t first, Choices& found) {
  const bool order = prunings_.option_order && ordered_;
  std::vector<Candidate>& own = found.candidates;
  std::vector<StageVariant>& all = of.all();
  for (std::size_t o = first; o < all.size(); ++o) {
    const std::span<const double> least = of.least_work(all[o]);
    const auto shorter = [&](const Candidate& c) { return at_most(all[c.variant].work, least); };
    if (order && std::any_of(own.begin(), own.end(), shorter)) {
      found.longer.push_back(o);
      continue;
    }
    ++counts_->work;
    if (of.fits(all[o], static_cast<std::int64_t>(stage), shape_->capacity))
      own.push_back(priced(of, stage, o));
  }
}

bool VariantSearch::find(const std::vector<StageVariants*>& stages) {
  choices_.clear();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    choices_.push_back(&choices(*stages[i], i));
    if (choices_.back()->candidates.empty()) return false;
  }
  return true;
}

bool VariantSearch::single() const {
  return std::all_of(choices_.begin(), choices_.end(),
                     [](const Choices* own) { return own->candidates.size() == 1; });
}

double VariantSearch::single_step() {
  chosen_.clear();
  for (const Choices* own : choices_) chosen_.push_back(&own->candidates.front().reading);
  return step();
}

void VariantSearch::copy_candidates() {
  candidates_.clear();
  for (const Choices* own : choices_) candidates_.push_back(own->candidates);
}

// Variants that hide more, where there is anything to hide.
void VariantSearch::add_longer(const std::vector<StageVariants*>& stages) {
  std::size_t needed = 0;  // stages from which on nothing sticks out
  double before = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    double most = 0;
    double least_b = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates_[i]) {
      most = std::max(most, c.reading.reduce);
      least_b = std::min(least_b, c.reading.hides_b);
    }
    if (most > before) needed = i + 1;
    before += least_b;
  }
  for (std::size_t i = 0; i < needed; ++i) {
    for (const std::size_t o : choices_[i]->longer) add_longer(*stages[i], i, o);
    if (!choices_[i]->sets_too) continue;
    stages[i]->complete();
    for (std::size_t o = stages[i]->count(); o < stages[i]->all().size(); ++o) add_longer(*stages[i], i, o);
  }
}

void VariantSearch::add_longer(StageVariants& of, std::size_t stage, std::size_t variant) {
  std::vector<Candidate>& own = candidates_[stage];
  ++counts_->work;
  if (!of.fits(of.all()[variant], static_cast<std::int64_t>(stage), shape_->capacity)) return;
  own.push_back(priced(of, stage, variant));
  const StageReading& last = own.back().reading;
  if (std::any_of(own.begin(), own.end() - 1, [&](const Candidate& c) { return no_worse(c.reading, last); }))
    own.pop_back();
}

double VariantSearch::step() {
  ++counts_->work;
  passes_.clear();
  const bool by_chunk = shape_->model == PipelineModel::one_f_one_b;
  for (const StageReading* own : chosen_) {
    if (by_chunk) {
      passes_.insert(passes_.end(), own->passes.begin(), own->passes.end());
    } else {
      StagePass sum;
      for (const StagePass& pass : own->passes)
        sum = {sum.f + pass.f, sum.b + pass.b, sum.weight + pass.weight};
      passes_.push_back(sum);
    }
  }
  StepLabel end;
  for (std::size_t i = chosen_.size(); i-- > 0;) {
    const StageReading& own = *chosen_[i];
    end = end.with({own.hidden, own.reduce, own.gather, own.optimizer, own.slow_down, own.norm, own.hides_f,
                    own.hides_b});
  }
  const double pipeline =
      by_chunk
          ? chunk_time(shape_->schedule, passes_, shape_->stages, shape_->micro_batches).value
          : pipeline_time(shape_->schedule, shape_->model, passes_, shape_->micro_batches, shape_->chunks)
                .value;
  reduce_ = std::max(0.0, end.reduce);
  return pipeline + end.total();
}

void VariantSearch::find_ideals() {
  ideals_.clear();
  for (const std::vector<Candidate>& own : candidates_) {
    StageReading& ideal = ideals_.emplace_back(own.front().reading);
    for (const Candidate& c : own) {
      const StageReading& r = c.reading;
      for (std::size_t k = 0; k < ideal.passes.size(); ++k) {
        StagePass& least = ideal.passes[k];
        const StagePass& own_pass = r.passes[k];
        const double input = std::min(least.b - least.weight, own_pass.b - own_pass.weight);
        least.f = std::min(least.f, own_pass.f);
        least.weight = std::min(least.weight, own_pass.weight);
        least.b = input + least.weight;
        least.pair = std::min(least.pair, own_pass.pair);
      }
      for (double StageReading::* part :
           {&StageReading::hidden, &StageReading::reduce, &StageReading::gather, &StageReading::slow_down,
            &StageReading::optimizer, &StageReading::norm})
        ideal.*part = std::min(ideal.*part, r.*part);
      ideal.hides_f = std::max(ideal.hides_f, r.hides_f);
      ideal.hides_b = std::max(ideal.hides_b, r.hides_b);
    }
  }
  chosen_.clear();
  for (const StageReading& ideal : ideals_) chosen_.push_back(&ideal);
}

void VariantSearch::find_alone() {
  find_ideals();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (i > 0 && candidates_[i].size() == 1) {
      // The ideal is its only variant, as it is in the bound of any other stage.
      candidates_[i].front().alone = 0;
      continue;
    }
    for (Candidate& c : candidates_[i]) {
      chosen_[i] = &c.reading;
      c.alone = step();
    }
    chosen_[i] = &ideals_[i];
  }
}

bool VariantSearch::useful(double bound) const {
  return bound < least_ && bound * kRounding <= threshold_;
}

// Whether every stage has a variant left. With fewer of them, the ideals are nearer.
bool VariantSearch::drop_useless() {
  for (int round = 0; round < 2; ++round) {
    find_alone();
    bool dropped = false;
    for (std::vector<Candidate>& own : candidates_) {
      const std::size_t before = own.size();
      std::erase_if(own, [&](const Candidate& c) { return !useful(c.alone); });
      if (own.empty()) return false;
      dropped = dropped || own.size() < before;
    }
    if (!dropped) break;
  }
  for (std::vector<Candidate>& own : candidates_)
    std::sort(own.begin(), own.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.alone, a.variant) < std::pair(b.alone, b.variant);
    });
  find_ideals();
  after_.assign(candidates_.size() + 1, 0);
  for (std::size_t i = candidates_.size(); i-- > 0;)
    after_[i] = std::max(after_[i + 1], candidates_[i].front().alone);
  return true;
}

void VariantSearch::deepen(std::size_t stage) {
  for (std::size_t k = 0; k < candidates_[stage].size(); ++k) {
    if (--left_ <= 0) return;
    counts_->look();
    chosen_[stage] = &candidates_[stage][k].reading;
    at_[stage] = candidates_[stage][k].variant;
    const bool last = stage + 1 == candidates_.size();
    // One variant is its stage's ideal.
    if (!last && candidates_[stage].size() == 1) {
      deepen(stage + 1);
      break;
    }
    const double now = step();
    if (!useful(std::max(now, after_[stage + 1]))) continue;
    if (last) {
      least_ = now;
      best_ = Best{now, at_};
    } else {
      deepen(stage + 1);
    }
  }
  chosen_[stage] = &ideals_[stage];
}

void VariantSearch::try_all() {
  std::vector<std::size_t> next(candidates_.size(), 0);
  for (std::size_t i = 0; i < candidates_.size();) {
    if (--left_ <= 0) return;
    counts_->look();
    for (std::size_t k = 0; k < next.size(); ++k) {
      chosen_[k] = &candidates_[k][next[k]].reading;
      at_[k] = candidates_[k][next[k]].variant;
    }
    const double now = step();
    if (useful(now)) {
      least_ = now;
      best_ = Best{now, at_};
    }
    for (i = 0; i < next.size() && ++next[i] == candidates_[i].size();) next[i++] = 0;
  }
}

std::optional<VariantSearch::Best> VariantSearch::best(const std::vector<StageVariants*>& stages,
                                                       double threshold, double below) {
  best_.reset();
  if (!find(stages)) return std::nullopt;
  threshold_ = threshold;
  least_ = below;
  if (prunings_.option_order && single()) {
    const double now = single_step();
    // Longer variants leave everything but the reduction as it is, or longer.
    if (!useful(now - reduce_)) return std::nullopt;
    if (reduce_ <= 0) {
      Best best{now, {}};
      for (const Choices* own : choices_) best.variants.push_back(own->candidates.front().variant);
      return best;
    }
  }
  copy_candidates();
  add_longer(stages);
  left_ = kMostTries;
  at_.assign(stages.size(), 0);
  chosen_.assign(stages.size(), nullptr);
  if (!prunings_.option_order) {
    try_all();
  } else if (drop_useless()) {
    deepen(0);
  }
  if (left_ <= 0) ++counts_->cut_short;
  return std::move(best_);
}

std::optional<double> VariantSearch::bound(const std::vector<StageVariants*>& stages) {
  if (!find(stages)) return std::nullopt;
  if (single()) return single_step();
  copy_candidates();
  find_alone();
  double most = 0;
  for (const std::vector<Candidate>& own : candidates_) {
    const auto least = std::min_element(
        own.begin(), own.end(), [](const Candidate& a, const Candidate& b) { return a.alone < b.alone; });
    most = std::max(most, least->alone);
  }
  return most;
}

}  // namespace nest::solve
