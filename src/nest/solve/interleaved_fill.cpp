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
  for (const Recompute& recompute : setting.recompute->of_stage(out.whole.recomputable)) {
    Variant& variant = out.variants.emplace_back();
    variant.recompute = recompute;
    std::int64_t left = recompute.layers;
    for (const StageClass& chunk : out.chunks) {
      Recompute own = recompute;
      if (recompute.layers > 0) {
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
      variant.chunk_terms.push_back(stage_terms(*setting.sets, chunk, place, own));
      variant.whole += variant.chunk_terms.back();
    }
    variant.order = backward_of(variant.whole);
  }
  for (std::size_t i = 1; i < out.variants.size(); ++i) {
    for (std::size_t k = i; k > 0 && out.variants[k].order < out.variants[k - 1].order; --k)
      std::swap(out.variants[k], out.variants[k - 1]);
  }
  return out;
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
    chunk.stash += coster.recipe().stage_buffers * std::max(before, after);
    chunk.forward_receive = coster.receive(before, first ? *shape.wrap : place.network->from_previous,
                                           chunk.forward_work(), setting.schedule, &chunk.forward_hidden);
    chunk.backward_receive = coster.receive(after, last ? *shape.wrap : place.network->from_next,
                                            chunk.backward_work(), setting.schedule, &chunk.backward_hidden);
    variant.passes.push_back({chunk.f().value, chunk.b().value, chunk.backward_weight.value});
    variant.stashes.push_back(chunk.stash);
  }
  const auto parts = static_cast<double>(place.strategy.tensor);
  coster.step(variant.whole, *place.network, setting.zero, of.whole.tied_copied / parts,
              of.whole.tied_summed / parts, *setting.ends, setting.shape, setting.schedule, variant.cost);
  const StageMemory m =
      coster.memory(variant.whole, *place.network, setting.zero, of.whole.tied_copied / parts, Bytes{0});
  variant.fixed = (m.weights + m.gradients + m.optimizer + m.reserve).value;
  variant.workspace = m.workspace.value;
  if (setting.any_zero) {
    variant.workspace =
        coster.memory(variant.whole, *place.network, 0, of.whole.tied_copied / parts, Bytes{0})
            .workspace.value;
  }
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
// hide. Only stages up to the last one whose reduction sticks out can change that: with more backward time
// none that is hidden comes out again. Those are tried in every combination that could be better.
void InterleavedFiller::refine(Context& context, std::vector<StageVariants*>& stages,
                               std::vector<std::size_t>& best, double& least) {
  const InterleavedShape& shape = *context.shape;
  std::vector<const Variant*> chosen;
  for (std::size_t i = 0; i < stages.size(); ++i) chosen.push_back(&stages[i]->variants[best[i]]);
  double reduce = 0;
  const double base = step(context, chosen, &reduce);
  if (reduce <= 0) return;
  std::size_t last = 0;
  double before = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageCost& s = chosen[i]->cost;
    const double share = static_cast<double>(i + 1) / static_cast<double>(stages.size());
    if (std::max(s.reduce_alone.value, s.reduce.value * share) - before > 0) last = i;
    before += chosen[i]->passes.front().b;
  }
  const std::vector<std::size_t> first = best;
  std::vector<std::size_t> at = first;
  const ScheduleShape schedule{shape.stages, shape.micro_batches, shape.chunks};
  while (true) {
    // The next combination of stages 0 to last.
    std::size_t i = 0;
    for (; i <= last; ++i) {
      if (++at[i] < stages[i]->variants.size()) break;
      at[i] = first[i];
    }
    if (i > last) return;
    ++context.counts->work;
    bool fits = true;
    for (std::size_t k = 0; k < stages.size() && fits; ++k) {
      Variant& variant = stages[k]->variants[at[k]];
      if (!variant.priced) price(context, k, *stages[k], variant);
      chosen[k] = &variant;
      const Bytes held =
          peak_stash(Schedule::interleaved, schedule, static_cast<std::int64_t>(k), variant.stashes);
      fits = variant.fixed + std::max(held.value + variant.workspace, variant.cost.update.value) <=
             shape.capacity;
    }
    if (!fits) continue;
    double own = 0;
    const double now = step(context, chosen, &own);
    if (now < least) {
      least = now;
      best = at;
    }
    // Even with no reduction left, more of stage i would not be better: skip the rest of its variants.
    if (prunings_.split_bound && now - own > std::min(base, least)) {
      for (std::size_t k = 0; k <= i; ++k) at[k] = stages[k]->variants.size() - 1;
    }
  }
}

std::optional<InterleavedFilled> InterleavedFiller::fill(StageOptions& options, const InterleavedShape& shape,
                                                         std::span<const std::vector<std::int32_t>> splits,
                                                         double threshold, FillCounts& counts) {
  Context context{&options, &shape, &counts, {}};
  const ScheduleShape schedule{shape.stages, shape.micro_batches, shape.chunks};
  std::optional<InterleavedFilled> found;
  std::vector<StageVariants*> stages(static_cast<std::size_t>(shape.stages));
  std::vector<std::size_t> chosen(stages.size());
  std::vector<const Variant*> variants_of(stages.size());
  for (std::size_t k = 0; k < splits.size(); ++k) {
    ++counts.work;
    if (prunings_.split_bound && split_bound(context, splits[k]) * kRounding > threshold) continue;
    bool fits = true;
    for (std::size_t i = 0; i < stages.size() && fits; ++i) {
      stages[i] = &variants(context, i, splits[k]);
      fits = false;
      for (std::size_t o = 0; o < stages[i]->variants.size() && !fits; ++o) {
        ++counts.work;
        Variant& variant = stages[i]->variants[o];
        if (!variant.priced) price(context, i, *stages[i], variant);
        const Bytes held =
            peak_stash(Schedule::interleaved, schedule, static_cast<std::int64_t>(i), variant.stashes);
        fits = variant.fixed + std::max(held.value + variant.workspace, variant.cost.update.value) <=
               shape.capacity;
        chosen[i] = o;
        variants_of[i] = &variant;
      }
    }
    if (!fits || !ties_fit(context, stages)) continue;
    double least = step(context, variants_of, nullptr);
    std::vector<std::size_t> best = chosen;
    refine(context, stages, best, least);
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
