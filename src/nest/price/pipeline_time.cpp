#include "nest/price/pipeline_time.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace nest::price {
namespace {

// The sum of all stages, and the longest stage once for every further micro-batch.
namespace sum_max {

PipelineLabel extended(const PipelineShape& /*shape*/, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t /*s*/) {
  const double u = pass.f + pass.b;
  return {after[0] + u, std::max(after[1], u), 0};
}

double total(const PipelineShape& shape, const PipelineLabel& label) {
  return label[0] + static_cast<double>(shape.micro_batches - 1) * label[1];
}

double bound(const PipelineShape& shape, const PipelineLabel& label, double k, double f, double b) {
  return label[0] + f + b + static_cast<double>(shape.micro_batches - 1) * std::max(label[1], (f + b) / k);
}

double whole(const PipelineShape& shape, double f, double b, const StagePass& longest) {
  return f + b + static_cast<double>(shape.micro_batches - 1) * (longest.f + longest.b);
}

constexpr PipelineForm kForm{extended, total, bound, whole};

}  // namespace sum_max

// As the paper has it: every stage counts as the longest.
namespace paper {

double rounds(const PipelineShape& shape) {
  return static_cast<double>(shape.micro_batches + shape.stages - 1);
}

PipelineLabel extended(const PipelineShape& /*shape*/, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t /*s*/) {
  return {std::max(after[0], pass.f + pass.b), 0, 0};
}

double total(const PipelineShape& shape, const PipelineLabel& label) {
  return rounds(shape) * label[0];
}

double bound(const PipelineShape& shape, const PipelineLabel& label, double k, double f, double b) {
  return rounds(shape) * std::max(label[0], (f + b) / k);
}

double whole(const PipelineShape& shape, double /*f*/, double /*b*/, const StagePass& longest) {
  return rounds(shape) * (longest.f + longest.b);
}

constexpr PipelineForm kForm{extended, total, bound, whole};

}  // namespace paper

}  // namespace

const PipelineForm& pipeline_form(Schedule schedule, PipelineModel model) {
  if (model == PipelineModel::sum_max) return sum_max::kForm;
  if (model == PipelineModel::paper) return paper::kForm;
  // One chunk a stage is 1F1B.
  const PipelineForm* own = schedule_of(schedule).form;
  return own != nullptr ? *own : *kOneFOneB.form;
}

Seconds pipeline_bound(const PipelineShape& shape, const PipelineLabel& label, std::int64_t s, Seconds f,
                       Seconds b) {
  if (s >= shape.stages) return pipeline_total(shape, label);
  return Seconds{shape.form->bound(shape, label, static_cast<double>(shape.stages - s), f.value, b.value)};
}

Seconds pipeline_bound(const PipelineShape& shape, Seconds f, Seconds b, const StagePass& longest) {
  return std::max({pipeline_bound(shape, {}, 0, f, b),
                   Seconds{shape.form->whole(shape, f.value, b.value, longest)},
                   Seconds{static_cast<double>(shape.micro_batches) * (longest.f + longest.b)}});
}

Seconds chunk_time(Schedule schedule, std::span<const StagePass> chunks, std::int64_t stages,
                   std::int64_t micro_batches) {
  const std::int64_t v = static_cast<std::int64_t>(chunks.size()) / stages;
  const PipelineSchedule& own = schedule_of(schedule);
  if (own.time == nullptr || v == 1)
    return pipeline_time(schedule, PipelineModel::one_f_one_b, chunks, micro_batches, 1);
  return Seconds{own.time(chunks, {stages, micro_batches, v})};
}

Seconds pipeline_time(Schedule schedule, PipelineModel model, std::span<const StagePass> stages,
                      std::int64_t micro_batches, std::int64_t chunks) {
  assert(!stages.empty() && micro_batches >= 1 && chunks >= 1);
  const auto p = static_cast<std::int64_t>(stages.size());
  if (model == PipelineModel::one_f_one_b && chunks > 1) {
    const double share = 1 / static_cast<double>(chunks);
    std::vector<StagePass> parts;
    for (const StagePass& s : stages)
      parts.insert(parts.end(), static_cast<std::size_t>(chunks),
                   {s.f * share, s.b * share, s.weight * share, s.pair * share});
    return chunk_time(schedule, parts, p, micro_batches);
  }
  const PipelineShape shape{&pipeline_form(schedule, model), p, micro_batches};
  PipelineLabel label{};
  for (std::int64_t s = 1; s <= p; ++s)
    label = extended(shape, label, stages[static_cast<std::size_t>(p - s)], s);
  return pipeline_total(shape, label);
}

}  // namespace nest::price
