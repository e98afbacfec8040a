#include "nest/solve/interleaved_fill.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "nest/base/hash.hpp"
#include "nest/strategies/boundary.hpp"

namespace nest {
namespace {

constexpr double kRounding = 1 - 1e-12;

std::vector<LayerId> ids(std::int32_t first, std::int32_t last) {
  std::vector<LayerId> list;
  for (std::int32_t i = first; i < last; ++i) list.emplace_back(i);
  return list;
}

double backward_of(const LayerTerms& t) {
  return t.of(Term::backward_input) + t.of(Term::backward_weight) + t.of(Term::recompute) +
         t.of(Term::backward_tensor) + t.of(Term::backward_expert) + t.of(Term::backward_context);
}

}  // namespace

struct InterleavedFiller::Context {
  StageOptions* options;
  const InterleavedShape* shape;
  FillCounts* counts;
  // Stages with the same chunks in the same place.
  std::map<std::vector<std::int64_t>, StageVariants> known;
};

InterleavedFiller::StageVariants& InterleavedFiller::variants(Context& context, std::size_t stage,
                                                              std::span<const std::int32_t> split) {
  const InterleavedShape& shape = *context.shape;
  const StageSetting& setting = context.options->setting();
  const auto p = static_cast<std::size_t>(shape.stages);
  const auto v = static_cast<std::size_t>(shape.chunks);
  std::vector<LayerId> all;
  std::vector<StageClass> chunks;
  std::vector<std::int64_t> key{static_cast<std::int64_t>(shape.places[stage]), stage == 0 ? 1 : 0,
                                stage + 1 == p ? 1 : 0};
  for (std::size_t c = 0; c < v; ++c) {
    const Range range{split[c * p + stage], split[c * p + stage + 1]};
    const std::vector<LayerId> own = ids(range.first, range.second);
    all.insert(all.end(), own.begin(), own.end());
    auto known = classes_.find(range);
    if (known == classes_.end()) {
      const auto before = [&](std::int32_t at) {
        return static_cast<std::size_t>(at) == graph_->layers() ? Bytes{0}
                                                                : graph_->crossing_before(LayerId(at));
      };
      known =
          classes_
              .emplace(range, setting.sets->class_of(own, range.first == 0 ? Bytes{0} : before(range.first),
                                                     before(range.second)))
              .first;
    }
    chunks.push_back(known->second);
    const StageClass& of = chunks.back();
    key.push_back(of.before.value);
    key.push_back(of.after.value);
    std::size_t hash = 0;
    for (const std::uint16_t kind : of.kinds) mix_hash(hash, kind);
    key.push_back(static_cast<std::int64_t>(hash));
  }
  const auto [at, made] = context.known.try_emplace(std::move(key));
  StageVariants& out = at->second;
  if (!made) return out;
  out.chunks = std::move(chunks);
  out.whole = setting.sets->class_of(all, Bytes{0}, Bytes{0});
  const Place& place = context.options->places()[shape.places[stage]];
  const auto backward = [&](RecomputePolicy policy, std::uint16_t kind) {
    return backward_of(place.tables[static_cast<std::size_t>(policy)]->of(setting.sets->example(kind)));
  };
  for (const Recompute& recompute : setting.recompute->of_stage(out.whole.recomputable)) {
    Variant& variant = out.variants.emplace_back();
    variant.recompute = recompute;
    if (recompute.layers > 1 && out.variants.size() > 1) {
      // One layer more than the variant before it, where that is of the same kind.
      const Variant& before = out.variants[out.variants.size() - 2];
      if (before.recompute.policy == RecomputePolicy::full &&
          before.recompute.layers == recompute.layers - 1) {
        std::int64_t seen = 0;
        for (const std::uint16_t kind : out.whole.kinds) {
          if (!setting.sets->recomputes(kind) || ++seen < recompute.layers) continue;
          variant.order =
              before.order + backward(RecomputePolicy::full, kind) - backward(RecomputePolicy::none, kind);
          break;
        }
        continue;
      }
    }
    std::int64_t recomputed = 0;
    for (const std::uint16_t kind : out.whole.kinds) {
      const bool can = setting.sets->recomputes(kind);
      variant.order += backward(can ? recompute.of_layer(recomputed) : RecomputePolicy::none, kind);
      recomputed += can ? 1 : 0;
    }
  }
  for (std::size_t i = 1; i < out.variants.size(); ++i) {
    for (std::size_t k = i; k > 0 && out.variants[k].order < out.variants[k - 1].order; --k)
      std::swap(out.variants[k], out.variants[k - 1]);
  }
  return out;
}

// Layers' sums and bytes, which cost little.
void InterleavedFiller::weigh(const Context& context, std::size_t stage, const StageVariants& of,
                              Variant& variant) const {
  const StageSetting& setting = context.options->setting();
  const Place& place = context.options->places()[context.shape->places[stage]];
  const StageCoster& coster = *setting.coster;
  std::int64_t left = variant.recompute.layers;
  for (const StageClass& chunk : of.chunks) {
    Recompute own = variant.recompute;
    if (own.layers > 0) {
      // The stage's first layers, so its first chunks'.
      if (left == 0) {
        own = {RecomputePolicy::none, 0};
      } else if (left >= chunk.recomputable) {
        own = {RecomputePolicy::full, 0};
      } else {
        own.layers = left;
      }
      left -= std::min(left, chunk.recomputable);
    }
    const LayerTerms& terms = variant.chunk_terms.emplace_back(stage_terms(*setting.sets, chunk, place, own));
    variant.whole += terms;
    const Bytes widest = setting.micro_batch_scale * std::max(chunk.before, chunk.after);
    variant.stashes.push_back(round_up_bytes(terms.of(Term::stash)) +
                              coster.recipe().stage_buffers * boundary_bytes(widest, place.strategy));
  }
  const double tied = of.whole.tied_copied / static_cast<double>(place.strategy.tensor);
  const StageMemory m = coster.memory(variant.whole, *place.network, setting.zero, tied, Bytes{0});
  variant.fixed = (m.weights + m.gradients + m.optimizer + m.reserve).value;
  variant.workspace = setting.any_zero
                          ? coster.memory(variant.whole, *place.network, 0, tied, Bytes{0}).workspace.value
                          : m.workspace.value;
  variant.update = coster.update(variant.whole, *place.network, setting.zero, tied).value;
  variant.weighed = true;
}

void InterleavedFiller::price(const Context& context, std::size_t stage, const StageVariants& of,
                              Variant& variant) const {
  const StageSetting& setting = context.options->setting();
  const InterleavedShape& shape = *context.shape;
  const Place& place = context.options->places()[shape.places[stage]];
  const StageCoster& coster = *setting.coster;
  const bool first = stage == 0;
  const bool last = stage + 1 == static_cast<std::size_t>(shape.stages);
  variant.cost.chunks.resize(of.chunks.size());
  for (std::size_t c = 0; c < of.chunks.size(); ++c) {
    ChunkCost& chunk = variant.cost.chunks[c];
    coster.chunk(variant.chunk_terms[c], *place.network, setting.zero, chunk);
    const Bytes before = boundary_bytes(setting.micro_batch_scale * of.chunks[c].before, place.strategy);
    const Bytes after = boundary_bytes(setting.micro_batch_scale * of.chunks[c].after, place.strategy);
    chunk.forward_receive = coster.receive(before, first ? *shape.wrap : place.network->from_previous,
                                           chunk.forward_work(), setting.schedule, &chunk.forward_hidden);
    chunk.backward_receive = coster.receive(after, last ? *shape.wrap : place.network->from_next,
                                            chunk.backward_work(), setting.schedule, &chunk.backward_hidden);
    variant.passes.push_back({chunk.f().value, chunk.b().value, chunk.backward_weight.value});
  }
  const auto parts = static_cast<double>(place.strategy.tensor);
  coster.step(variant.whole, *place.network, setting.zero, of.whole.tied_copied / parts,
              of.whole.tied_summed / parts, *setting.ends, setting.shape, setting.schedule, variant.cost);
  const ChunkCost& front = variant.cost.chunks.front();
  if (!first) variant.hidden += front.forward_hidden.value;
  if (!last) variant.hidden += front.backward_hidden.value;
  variant.priced = true;
}

double InterleavedFiller::step(const Context& context, const std::vector<const Variant*>& chosen,
                               double* reduced) const {
  const InterleavedShape& shape = *context.shape;
  std::vector<StagePass> passes;
  double hidden = 0;
  double reduce = 0;
  double slow_down = 0;
  double norm = 0;
  double finish = 0;
  double before_f = 0;
  double before_b = 0;
  const bool by_chunk = shape.model == PipelineModel::one_f_one_b;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Variant& own = *chosen[i];
    const StageCost& s = own.cost;
    if (by_chunk) {
      passes.insert(passes.end(), own.passes.begin(), own.passes.end());
    } else {
      StagePass sum;
      for (const StagePass& pass : own.passes)
        sum = {sum.f + pass.f, sum.b + pass.b, sum.weight + pass.weight};
      passes.push_back(sum);
    }
    hidden += own.hidden;
    const double share = static_cast<double>(i + 1) / static_cast<double>(chosen.size());
    reduce = std::max(reduce, std::max(s.reduce_alone.value, s.reduce.value * share) - before_b);
    slow_down = std::max(slow_down, s.slow_down.value);
    norm = std::max(norm, s.norm.value);
    finish = std::max(finish, s.optimizer.value + std::max(0.0, s.gather.value - before_f));
    before_b += own.passes.front().b;
    before_f += own.passes.front().f;
  }
  const double pipeline =
      by_chunk ? interleaved_time(passes, shape.stages, shape.micro_batches).value
               : pipeline_time(Schedule::interleaved, shape.model, passes, shape.micro_batches, shape.chunks)
                     .value;
  if (reduced != nullptr) *reduced = reduce;
  return pipeline + hidden + reduce + slow_down + norm + finish;
}

// Passes of the layers' own least times: nothing is sent, nothing recomputed.
double InterleavedFiller::split_bound(const Context& context, std::span<const std::int32_t> split) {
  const InterleavedShape& shape = *context.shape;
  const auto p = static_cast<std::size_t>(shape.stages);
  const auto v = static_cast<std::size_t>(shape.chunks);
  const LayerSets& sets = *context.options->setting().sets;
  passes_.clear();
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t c = 0; c < v; ++c) {
      StagePass pass;
      for (std::int32_t l = split[c * p + i]; l < split[c * p + i + 1]; ++l) {
        const std::uint16_t kind = sets.kind_of(LayerId(l));
        pass.f += context.options->least_forward(kind);
        pass.b += context.options->least_backward(kind);
      }
      passes_.push_back(pass);
    }
  }
  if (shape.model == PipelineModel::one_f_one_b)
    return interleaved_time(passes_, shape.stages, shape.micro_batches).value;
  double longest = 0;
  for (std::size_t i = 0; i < p; ++i) {
    double u = 0;
    for (std::size_t c = 0; c < v; ++c) u += passes_[i * v + c].f + passes_[i * v + c].b;
    longest = std::max(longest, u);
  }
  return static_cast<double>(shape.micro_batches) * longest;
}

bool InterleavedFiller::ties_fit(const Context& context, const std::vector<StageVariants*>& stages) const {
  const InterleavedShape& shape = *context.shape;
  if (shape.ties == FillShape::Ties::any) return true;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool inside =
        shape.ties == FillShape::Ties::between && i >= shape.tied_first && i <= shape.tied_last;
    const bool end = inside && (i == shape.tied_first || i == shape.tied_last);
    const bool splits = stages[i]->whole.splits_tied;
    if ((splits && !inside) || (!splits && end)) return false;
  }
  return true;
}

// More recomputation than needed makes every time longer but the reduction's, which longer backward passes
// hide. What stages up to k do to the reduction is known once they are chosen, what later ones can do at most
// too, and the rest of the step is at least what it is with the least recomputation everywhere else: a search
// in depth that ends early.
struct InterleavedFiller::Refinement {
  struct Useful {  // a variant that could pay for itself
    std::size_t variant;
    double b;       // of its first chunk
    double reduce;  // of its own, before anything hides it
  };
  Context* context;
  const std::vector<StageVariants*>* stages;
  std::vector<std::vector<Useful>> useful;  // of each stage, the one with the least recomputation first
  std::vector<double> most_b;
  std::vector<double> least_reduce;
  std::vector<const Variant*> chosen;
  std::vector<std::size_t> at;
  std::vector<std::size_t>* best;
  double least;
  double threshold;
  std::int64_t left;  // of what may be tried

  [[nodiscard]] double limit() const { return std::min(least, threshold); }
  // What sticks out of later stages' reductions at least.
  [[nodiscard]] double later(std::size_t stage, double before) const {
    double most = 0;
    for (std::size_t i = stage + 1; i < useful.size(); ++i) {
      most = std::max(most, least_reduce[i] - before);
      before += most_b[i];
    }
    return most;
  }
};

// Variants that alone, with the least recomputation elsewhere, leave the step without its reduction below the
// limit, and that hide more than those before them.
void InterleavedFiller::find_useful(Refinement& r) {
  const std::vector<StageVariants*>& stages = *r.stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(stages.size());
    std::vector<Refinement::Useful>& useful = r.useful.emplace_back();
    for (std::size_t o = r.at[i]; o < stages[i]->variants.size(); ++o) {
      Variant& variant = stages[i]->variants[o];
      if (!fits(*r.context, i, *stages[i], variant)) continue;
      if (!variant.priced) price(*r.context, i, *stages[i], variant);
      const Refinement::Useful own{
          o, variant.passes.front().b,
          std::max(variant.cost.reduce_alone.value, variant.cost.reduce.value * share)};
      const bool hides = useful.empty() || own.b > useful.back().b || own.reduce < useful.back().reduce;
      if (!hides) continue;
      const Variant* before = r.chosen[i];
      r.chosen[i] = &variant;
      double reduce = 0;
      ++r.context->counts->work;
      const double rest = step(*r.context, r.chosen, &reduce) - reduce;
      r.chosen[i] = before;
      if (!useful.empty() && rest >= r.limit()) break;
      useful.push_back(own);
    }
    r.most_b.push_back(0);
    r.least_reduce.push_back(std::numeric_limits<double>::infinity());
    for (const Refinement::Useful& u : useful) {
      r.most_b.back() = std::max(r.most_b.back(), u.b);
      r.least_reduce.back() = std::min(r.least_reduce.back(), u.reduce);
    }
  }
}

void InterleavedFiller::deepen(Refinement& r, std::size_t stage, double before, double reduced) {
  const std::vector<StageVariants*>& stages = *r.stages;
  const std::size_t first = r.at[stage];
  for (const Refinement::Useful& u : r.useful[stage]) {
    if (--r.left <= 0) break;
    ++r.context->counts->work;
    r.chosen[stage] = &stages[stage]->variants[u.variant];
    r.at[stage] = u.variant;
    double reduce = 0;
    const double now = step(*r.context, r.chosen, &reduce);
    if (now < r.least) {
      r.least = now;
      *r.best = r.at;
    }
    const double own = std::max(reduced, u.reduce - before);
    const double rest = now - reduce;
    if (rest >= r.limit()) break;  // more of this stage would only be longer
    if (stage + 1 < stages.size() && reduce > own &&
        rest + std::max(own, r.later(stage, before + u.b)) < r.limit())
      deepen(r, stage + 1, before + u.b, own);
  }
  r.at[stage] = first;
  r.chosen[stage] = &stages[stage]->variants[first];
}

bool InterleavedFiller::refine(Context& context, const std::vector<StageVariants*>& stages,
                               std::vector<std::size_t>& best, double& least, double threshold) {
  constexpr std::int64_t kMostTries = 20'000;
  Refinement r{&context, &stages, {}, {}, {}, {}, best, &best, least, threshold, kMostTries};
  for (std::size_t i = 0; i < stages.size(); ++i) r.chosen.push_back(&stages[i]->variants[best[i]]);
  double reduce = 0;
  const double base = step(context, r.chosen, &reduce);
  if (reduce <= 0 || base - reduce >= r.limit()) return true;
  find_useful(r);
  deepen(r, 0, 0, 0);
  least = r.least;
  return r.left > 0;
}

bool InterleavedFiller::try_all(Context& context, const std::vector<StageVariants*>& stages,
                                std::vector<std::size_t>& best, double& least) {
  constexpr std::int64_t kMostTries = 20'000;
  std::vector<std::vector<std::size_t>> fitting(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (std::size_t o = 0; o < stages[i]->variants.size(); ++o) {
      Variant& variant = stages[i]->variants[o];
      if (!fits(context, i, *stages[i], variant)) continue;
      if (!variant.priced) price(context, i, *stages[i], variant);
      fitting[i].push_back(o);
    }
  }
  std::vector<std::size_t> at(stages.size(), 0);
  std::vector<const Variant*> chosen(stages.size());
  for (std::int64_t tries = 0; tries < kMostTries; ++tries) {
    ++context.counts->work;
    for (std::size_t i = 0; i < stages.size(); ++i) chosen[i] = &stages[i]->variants[fitting[i][at[i]]];
    const double now = step(context, chosen, nullptr);
    if (now < least) {
      least = now;
      for (std::size_t i = 0; i < stages.size(); ++i) best[i] = fitting[i][at[i]];
    }
    std::size_t i = 0;
    while (i < stages.size() && ++at[i] == fitting[i].size()) at[i++] = 0;
    if (i == stages.size()) return true;
  }
  return false;
}

bool InterleavedFiller::fits(const Context& context, std::size_t stage, const StageVariants& of,
                             Variant& variant) const {
  if (!variant.weighed) weigh(context, stage, of, variant);
  const InterleavedShape& shape = *context.shape;
  const auto total = [&](std::int64_t held) {
    return variant.fixed + std::max(held + variant.workspace, variant.update);
  };
  const ScheduleShape schedule{shape.stages, shape.micro_batches, shape.chunks};
  const auto index = static_cast<std::int64_t>(stage);
  // As many chunks of the smallest or of the largest stash settle most cases.
  const auto [least, most] = std::minmax_element(variant.stashes.begin(), variant.stashes.end());
  const std::int64_t count = in_flight(Schedule::interleaved, schedule, index);
  if (total(least->value * count) > shape.capacity) return false;
  if (total(most->value * count) <= shape.capacity) return true;
  return total(peak_stash(Schedule::interleaved, schedule, index, variant.stashes).value) <= shape.capacity;
}

std::optional<InterleavedFilled> InterleavedFiller::fill(StageOptions& options, const InterleavedShape& shape,
                                                         std::span<const std::vector<std::int32_t>> splits,
                                                         double threshold, FillCounts& counts) {
  Context context{&options, &shape, &counts, {}};
  std::optional<InterleavedFilled> found;
  std::vector<StageVariants*> stages(static_cast<std::size_t>(shape.stages));
  std::vector<std::size_t> chosen(stages.size());
  std::vector<const Variant*> variants_of(stages.size());
  for (std::size_t k = 0; k < splits.size(); ++k) {
    ++counts.work;
    if (prunings_.split_bound && split_bound(context, splits[k]) * kRounding > threshold) continue;
    bool fitting = true;
    for (std::size_t i = 0; i < stages.size() && fitting; ++i) {
      stages[i] = &variants(context, i, splits[k]);
      fitting = false;
      for (std::size_t o = 0; o < stages[i]->variants.size() && !fitting; ++o) {
        ++counts.work;
        Variant& variant = stages[i]->variants[o];
        fitting = fits(context, i, *stages[i], variant);
        if (fitting && !variant.priced) price(context, i, *stages[i], variant);
        chosen[i] = o;
        variants_of[i] = &variant;
      }
    }
    if (!fitting || !ties_fit(context, stages)) continue;
    double reduce = 0;
    double least = step(context, variants_of, &reduce);
    std::vector<std::size_t> best = chosen;
    if (shape.bound) {
      least -= reduce;
    } else if (!options.ordered()) {
      if (!try_all(context, stages, best, least)) ++counts.cut_short;
    } else if (!refine(context, stages, best, least, found ? std::min(threshold, found->step) : threshold)) {
      ++counts.cut_short;
    }
    if (least > threshold || (found && least >= found->step)) continue;
    found.emplace();
    found->step = least;
    found->split = k;
    for (std::size_t i = 0; i < stages.size(); ++i)
      found->recompute.push_back(stages[i]->variants[best[i]].recompute);
  }
  return found;
}

}  // namespace nest
