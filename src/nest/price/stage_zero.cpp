// What ZeRO 2 and ZeRO 3 add to the passes of a stage, and what they hold there. docs/step.md says which parameters are
// gathered when.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/price/stage_cost.hpp"
#include "nest/price/unhidden.hpp"

namespace nest::price {
namespace {

using Group = StepCollective::Group;

// Layers of a chunk whose parameters are gathered, before one of its passes.
struct GatheredPart {
  double layers = 0;
  double dense = 0;  // parameters of one of the layers, in the mean
  double expert = 0;
  double frozen_dense = 0;  // bytes of all of them
  double frozen_expert = 0;
  const Shapes* dense_ranks = nullptr;  // that they are gathered from
  const Shapes* expert_ranks = nullptr;
};

GatheredPart part_of(const LayerTerms& t, double layers, Term frozen_dense, Term frozen_expert,
                     const StageNetwork& network) {
  if (layers <= 0) return {};
  return {layers,
          t.of(Term::dense_parameters) / layers,
          t.of(Term::expert_parameters) / layers,
          t.of(frozen_dense),
          t.of(frozen_expert),
          &network.dense.inner,
          &network.expert.inner};
}

}  // namespace

void StageCoster::pass_traffic(const LayerTerms& t, const StageNetwork& network, Zero zero,
                               const Keeping& keeping, ChunkCost& out) const {
  const Recipe& recipe = recipe_;
  const Overlap& overlap = recipe.overlap;
  const double layers = std::max(1.0, t.of(Term::layers));
  const GatheredPart all = part_of(t, layers, Term::gathered_dense, Term::gathered_expert, network);
  GatheredPart again = part_of(t, layers, Term::regathered_dense, Term::regathered_expert, network);
  GatheredPart before = all;
  const Resharding& resharding = zero.resharding();
  if (resharding.keeps()) {
    // Layers that keep nothing; the others are gathered once, for this micro-batch or for all of a step's.
    LayerTerms rest;
    if (keeping.first != nullptr) rest = t.gathered_without(*keeping.first);
    const double left = rest.of(Term::layers);
    again = part_of(rest, left, Term::regathered_dense, Term::regathered_expert, network);
    if (keeping.stages > 1)
      before = part_of(rest, left, Term::gathered_dense, Term::gathered_expert, network);
  } else if (resharding.group() > 0) {
    again.dense_ranks = &network.dense.nearby;
    again.expert_ranks = &network.expert.nearby;
  }
  const bool gathers = zero.gathers_every_pass();
  const double gathered = gathers ? gather_bytes(t, recipe) : 0;
  const auto scattered = static_cast<double>(size_of(recipe.reduce_dtype));
  if (!gathers) {
    before.frozen_dense = before.frozen_expert = 0;
    again.frozen_dense = again.frozen_expert = 0;
  }
  const auto traffic = [&](CollectiveKind kind, const GatheredPart& part, double bytes, double frozen) {
    return memory_time(kind, part.layers * (part.dense + part.expert) * bytes + frozen);
  };
  const auto all_layers = [&](CollectiveKind kind, const GatheredPart& part, double bytes,
                              double frozen_dense, double frozen_expert) {
    if (part.layers <= 0) return 0.0;
    return recipe.zero_time * part.layers *
           (time(kind, part.dense * bytes + frozen_dense / part.layers, *part.dense_ranks) +
            time(kind, part.expert * bytes + frozen_expert / part.layers, *part.expert_ranks));
  };
  const auto gather_of = [&](const GatheredPart& part) {
    return all_layers(CollectiveKind::all_gather, part, gathered, part.frozen_dense, part.frozen_expert);
  };
  const auto traffic_of = [&](const GatheredPart& part) {
    return traffic(CollectiveKind::all_gather, part, gathered, part.frozen_dense + part.frozen_expert);
  };
  const double gather = gather_of(before);
  const double regather = gather_of(again);
  const bool late = reduces_late(zero, keeping.stages);
  const double scatter = late ? 0 : all_layers(CollectiveKind::reduce_scatter, all, scattered, 0, 0);
  const double prefetch = recipe.prefetch_layers > 0 ? overlap.prefetch : 0;
  // Gathers hide behind the compute of their own layers.
  const auto beside = [&](const GatheredPart& part, Seconds compute) {
    return part.layers / layers * compute.value;
  };
  const auto left_of = [&](double time, const GatheredPart& part, Seconds compute) {
    return time > 0 ? unhidden(time, prefetch, beside(part, compute), part.layers) : 0;
  };
  const double forward = left_of(gather, before, out.forward);
  // In the backward pass both share the time of the compute.
  const double backward_gather = left_of(regather, again, out.backward_compute());
  const double left = std::max(0.0, out.backward_compute().value - (regather - backward_gather));
  const double reduce = unhidden(scatter, overlap.gradient_reduce, left, layers);
  out.forward_zero = Seconds{forward + slowed(gather - forward, gather, traffic_of(before), overlap)};
  out.backward_zero = Seconds{
      backward_gather + reduce + slowed(regather - backward_gather, regather, traffic_of(again), overlap) +
      slowed(scatter - reduce, scatter, traffic(CollectiveKind::reduce_scatter, all, scattered, 0), overlap)};
  if (!recipe.copied_shards || !gathers) return;
  // Only what is gathered is copied.
  const auto copied = [&](const GatheredPart& part) {
    if (part.layers <= 0) return 0.0;
    const auto of = [&](double parameters, const Shapes& ranks) {
      return time(CollectiveKind::all_gather, parameters * gathered, ranks) > 0 ? part.layers * parameters
                                                                                : 0;
    };
    return (of(part.dense, *part.dense_ranks) + of(part.expert, *part.expert_ranks)) / rates_.bandwidth;
  };
  const double each = copied(all);
  const double share_again = each > 0 ? copied(again) / each : 0;
  double again_each = 2 * gathered * share_again;  // bytes of a parameter
  if (!late) again_each = again_each + kGradientBytes + scattered;
  out.forward_zero += Seconds{2 * gathered * copied(before)};
  out.backward_zero += Seconds{again_each * each};
  const auto copied_frozen = [&](const GatheredPart& part) {
    double bytes = 0;
    for (const auto& [own, ranks] :
         {std::pair{part.frozen_dense, part.dense_ranks}, {part.frozen_expert, part.expert_ranks}})
      bytes += own > 0 && time(CollectiveKind::all_gather, own / part.layers, *ranks) > 0 ? own : 0;
    return Seconds{2 * bytes / rates_.bandwidth};
  };
  out.forward_zero += copied_frozen(before);
  out.backward_zero += copied_frozen(again);
}

// Under a pipeline what is kept is gathered at the step's first forward pass.
std::vector<StepCollective> StageCoster::kept_gathers(const LayerTerms& t, const StageNetwork& network,
                                                      const StageStep& step) const {
  std::vector<StepCollective> out;
  if (!step.zero.gathers_every_pass() || !step.zero.resharding().keeps() || step.shape.stages == 1)
    return out;
  const LayerTerms& kept = step.first != nullptr ? *step.first : t;
  const double each = gather_bytes(t, recipe_);
  for (const auto& [parameters, frozen, ranks, group] :
       {std::tuple(Term::dense_parameters, Term::gathered_dense, &network.dense.inner, Group::dense_inner),
        std::tuple(Term::expert_parameters, Term::gathered_expert, &network.expert.inner,
                   Group::expert_inner)}) {
    const double bytes = kept.of(parameters) * each + kept.of(frozen);
    const double seconds = time(CollectiveKind::all_gather, bytes, *ranks);
    if (seconds > 0)
      out.push_back({CollectiveKind::all_gather, group, round_up_bytes(bytes), Seconds{seconds}});
  }
  return out;
}

// The layer at work and those gathered ahead, and what stays.
double StageCoster::gathered_bytes(const LayerTerms& t, const StageNetwork& network, Zero zero,
                                   const LayerTerms* first) const {
  const double each = gather_bytes(t, recipe_);
  const double ahead = static_cast<double>(1 + recipe_.prefetch_layers) *
                       std::max(t.largest_parameters * each, t.largest_gathered);
  const auto of = [&](const LayerTerms& kept, Term parameters, Term frozen) {
    return kept.of(parameters) * each + kept.of(frozen);
  };
  const auto dense = [&](const LayerTerms& kept) {
    return of(kept, Term::dense_parameters, Term::gathered_dense);
  };
  const auto expert = [&](const LayerTerms& kept) {
    return of(kept, Term::expert_parameters, Term::gathered_expert);
  };
  const Resharding& resharding = zero.resharding();
  if (resharding.keeps()) {
    const LayerTerms& kept = first != nullptr ? *first : t;
    const bool rest = kept.of(Term::layers) < t.of(Term::layers);
    return dense(kept) + expert(kept) + (rest ? ahead : 0);
  }
  double held = 0;
  if (resharding.group() > 0 && network.dense.near > 0)
    held += dense(t) / static_cast<double>(network.dense.near);
  if (resharding.group() > 0 && network.expert.near > 0)
    held += expert(t) / static_cast<double>(network.expert.near);
  return ahead + held;
}

}  // namespace nest::price
