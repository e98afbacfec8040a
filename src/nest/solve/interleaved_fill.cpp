#include "nest/solve/interleaved_fill.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace nest {
namespace {

constexpr double kRounding = 1 - 1e-12;

}  // namespace

struct InterleavedFiller::Context {
  StageOptions* options;
  const InterleavedShape* shape;
  FillCounts* counts;
  // By content, place and end of the pipeline.
  std::unordered_map<std::int64_t, StageVariants> known;
};

StageVariants& InterleavedFiller::variants(Context& context, std::size_t stage, std::int32_t content) {
  const InterleavedShape& shape = *context.shape;
  const bool first = stage == 0;
  const bool last = stage + 1 == static_cast<std::size_t>(shape.stages);
  const std::size_t place = shape.places[stage];
  const std::int64_t key = ((std::int64_t{content} * 2 + (first ? 1 : 0)) * 2 + (last ? 1 : 0)) * (1 << 20) +
                           static_cast<std::int64_t>(place);
  const auto known = context.known.find(key);
  if (known != context.known.end()) return known->second;
  const Place& own = context.options->places()[place];
  const InterleavedPlace where{place, first ? shape.wrap : &own.network->from_previous,
                               last ? shape.wrap : &own.network->from_next, first, last};
  return context.known.try_emplace(key, context.options->setting(), own, where, contents_.at(content))
      .first->second;
}

double InterleavedFiller::step(const Context& context, const std::vector<const StageVariant*>& chosen,
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
    const StageVariant& own = *chosen[i];
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
    const bool splits = stages[i]->content().whole.splits_tied;
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
  std::vector<const StageVariant*> chosen;
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
    for (std::size_t o = r.at[i]; o < stages[i]->all().size(); ++o) {
      StageVariant& variant = stages[i]->all()[o];
      if (!stages[i]->fits(variant, static_cast<std::int64_t>(i), r.context->shape->capacity)) continue;
      stages[i]->price(variant);
      const Refinement::Useful own{
          o, variant.passes.front().b,
          std::max(variant.cost.reduce_alone.value, variant.cost.reduce.value * share)};
      const bool hides = useful.empty() || own.b > useful.back().b || own.reduce < useful.back().reduce;
      if (!hides) continue;
      const StageVariant* before = r.chosen[i];
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
    r.context->counts->look();
    ++r.context->counts->work;
    r.chosen[stage] = &stages[stage]->all()[u.variant];
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
  r.chosen[stage] = &stages[stage]->all()[first];
}

bool InterleavedFiller::refine(Context& context, const std::vector<StageVariants*>& stages,
                               std::vector<std::size_t>& best, double& least, double threshold) {
  constexpr std::int64_t kMostTries = 20'000;
  Refinement r{&context, &stages, {}, {}, {}, {}, best, &best, least, threshold, kMostTries};
  for (std::size_t i = 0; i < stages.size(); ++i) r.chosen.push_back(&stages[i]->all()[best[i]]);
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
    for (std::size_t o = 0; o < stages[i]->all().size(); ++o) {
      StageVariant& variant = stages[i]->all()[o];
      if (!stages[i]->fits(variant, static_cast<std::int64_t>(i), context.shape->capacity)) continue;
      stages[i]->price(variant);
      fitting[i].push_back(o);
    }
  }
  std::vector<std::size_t> at(stages.size(), 0);
  std::vector<const StageVariant*> chosen(stages.size());
  for (std::int64_t tries = 0; tries < kMostTries; ++tries) {
    context.counts->look();
    ++context.counts->work;
    for (std::size_t i = 0; i < stages.size(); ++i) chosen[i] = &stages[i]->all()[fitting[i][at[i]]];
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

std::optional<InterleavedFilled> InterleavedFiller::fill(StageOptions& options, const InterleavedShape& shape,
                                                         std::span<const std::vector<std::int32_t>> splits,
                                                         double threshold, FillCounts& counts) {
  Context context{&options, &shape, &counts, {}};
  std::optional<InterleavedFilled> found;
  std::vector<StageVariants*> stages(static_cast<std::size_t>(shape.stages));
  std::vector<std::size_t> chosen(stages.size());
  std::vector<const StageVariant*> variants_of(stages.size());
  // The most promising first.
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(splits.size());
  for (std::size_t k = 0; k < splits.size(); ++k)
    order.emplace_back(prunings_.split_bound ? split_bound(context, splits[k]) : 0, k);
  std::sort(order.begin(), order.end());
  for (const auto& [bound, k] : order) {
    counts.look();
    ++counts.work;
    if (bound * kRounding > threshold || (found && bound >= found->step)) break;
    const std::vector<std::int32_t>& contents = contents_.of_split(splits[k], stages.size());
    bool fitting = true;
    for (std::size_t i = 0; i < stages.size() && fitting; ++i) {
      stages[i] = &variants(context, i, contents[i]);
      fitting = false;
      for (std::size_t o = 0; o < stages[i]->all().size() && !fitting; ++o) {
        ++counts.work;
        StageVariant& variant = stages[i]->all()[o];
        fitting = stages[i]->fits(variant, static_cast<std::int64_t>(i), shape.capacity);
        if (fitting) stages[i]->price(variant);
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
      found->recompute.push_back(stages[i]->all()[best[i]].recompute);
  }
  return found;
}

}  // namespace nest
