#include "nest/solve/table/interleaved_fill.hpp"

#include <algorithm>
#include <unordered_map>

#include "nest/solve/table/variant_search.hpp"

namespace nest::solve {
struct InterleavedFiller::Context {
  StageOptions* options;
  const InterleavedQuestion* shape;
  // By content, place and end of the pipeline.
  std::unordered_map<std::int64_t, StageVariants> known;
};

StageVariants& InterleavedFiller::variants(Context& context, std::size_t stage, std::int32_t content) {
  const InterleavedQuestion& shape = *context.shape;
  const bool first = stage == 0;
  const bool last = stage + 1 == static_cast<std::size_t>(shape.stages);
  const std::size_t place = shape.places[stage];
  const std::int64_t key = ((std::int64_t{content} * 2 + (first ? 1 : 0)) * 2 + (last ? 1 : 0)) * (1 << 20) +
                           static_cast<std::int64_t>(place);
  const auto known = context.known.find(key);
  if (known != context.known.end()) return known->second;
  const Place& own = context.options->places()[place];
  const bool wraps = schedule_of(shape.schedule).wraps();
  const InterleavedPlace where{place, first && wraps ? shape.wrap : &own.network->from_previous,
                               last && wraps ? shape.wrap : &own.network->from_next, first, last};
  return context.known.try_emplace(key, context.options->setting(), own, where, contents_.at(content))
      .first->second;
}

// Passes of the layers' own least times: nothing is sent, nothing recomputed.
Seconds InterleavedFiller::split_bound(const Context& context, std::span<const std::int32_t> split) {
  const InterleavedQuestion& shape = *context.shape;
  const auto p = static_cast<std::size_t>(shape.stages);
  const auto v = static_cast<std::size_t>(shape.chunks);
  const LayerSets& sets = *context.options->setting().sets;
  passes_.clear();
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t c = 0; c < v; ++c) {
      StagePass pass;
      const std::size_t part = part_of(shape.schedule, p, {i, c});
      for (std::int32_t l = split[part]; l < split[part + 1]; ++l) {
        const std::uint16_t kind = sets.kind_of(LayerId(l));
        pass.f += context.options->least_forward(kind).value;
        pass.b += context.options->least_backward(kind).value;
      }
      passes_.push_back(pass);
    }
  }
  // How much of a backward pass waits is not known here.
  if (shape.model == PipelineModel::one_f_one_b && !schedule_of(shape.schedule).splits_backward)
    return chunk_time(shape.schedule, passes_, shape.stages, shape.micro_batches);
  double longest = 0;
  for (std::size_t i = 0; i < p; ++i) {
    double u = 0;
    for (std::size_t c = 0; c < v; ++c) u += passes_[i * v + c].f + passes_[i * v + c].b;
    longest = std::max(longest, u);
  }
  return Seconds{static_cast<double>(shape.micro_batches) * longest};
}

bool InterleavedFiller::ties_fit(const Context& context, const std::vector<StageVariants*>& stages) const {
  const InterleavedQuestion& shape = *context.shape;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!ties_allow(shape, i, stages[i]->content().whole.splits_tied)) return false;
  }
  return true;
}

std::optional<InterleavedFilled> InterleavedFiller::fill(StageOptions& options,
                                                         const InterleavedQuestion& shape,
                                                         std::span<const std::vector<std::int32_t>> splits,
                                                         Seconds threshold, FillCounts& counts) {
  Context context{&options, &shape, {}};
  std::optional<InterleavedFilled> found;
  std::vector<StageVariants*> stages(static_cast<std::size_t>(shape.stages));
  VariantSearch search(shape, prunings_, options.ordered(), counts);
  // The most promising first.
  std::vector<std::pair<Seconds, std::size_t>> order;
  order.reserve(splits.size());
  for (std::size_t k = 0; k < splits.size(); ++k)
    order.emplace_back(prunings_.split_bound ? split_bound(context, splits[k]) : Seconds{}, k);
  std::sort(order.begin(), order.end());
  if (order.size() > shape.most_splits) order.resize(shape.most_splits);
  for (const auto& [bound, k] : order) {
    counts.look();
    ++counts.work;
    if (bound * kRounding > threshold || (found && bound >= found->step)) break;
    const std::vector<std::int32_t>& contents = contents_.of_split(splits[k], shape.schedule, stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i] = &variants(context, i, contents[i]);
    if (!ties_fit(context, stages)) continue;
    if (shape.bound) {
      const auto least = search.bound(stages);
      if (least && Seconds{*least} <= threshold && (!found || Seconds{*least} < found->step))
        found = InterleavedFilled{Seconds{*least}, k, {}};
      continue;
    }
    const Seconds below = found ? found->step : Seconds::most();
    const auto best = search.best(stages, threshold.value, below.value);
    if (!best || Seconds{best->step} > threshold) continue;
    found = InterleavedFilled{Seconds{best->step}, k, {}};
    for (std::size_t i = 0; i < stages.size(); ++i)
      found->recompute.push_back(stages[i]->all()[best->variants[i]].recompute);
  }
  return found;
}

}  // namespace nest::solve
