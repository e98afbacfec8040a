// ZB-H1 (Zero Bubble Pipeline Parallelism, arXiv 2401.10241): 1F1B whose weight gradients are tasks of their
// own. They wait `stage` micro-batches: then every stage has as many stashes as the first one, and those left
// over fill the time in which the last gradients travel back to the first stage.
#include <algorithm>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

std::vector<Task> order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t all = shape.micro_batches;
  std::vector<Task> order;
  order.reserve(static_cast<std::size_t>(3 * all));
  std::int64_t weights = 0;
  const auto weight = [&] { order.push_back(task_of(TaskKind::backward_weight, weights++)); };
  alternate(
      std::min(all, shape.stages - stage - 1), all,
      [&](std::int64_t k) { order.push_back(task_of(TaskKind::forward, k)); },
      [&](std::int64_t k) {
        order.push_back(task_of(TaskKind::backward, k));
        if (k >= stage) weight();
      });
  while (weights < all) weight();
  return order;
}

// The stash serves the weight gradients too: it goes when they are done, and that waits.
std::int64_t in_flight(const ScheduleShape& shape, std::int64_t /*stage*/) {
  return std::min(shape.micro_batches, shape.stages);
}

// As 1F1B with input gradients for backward passes. Weight gradients wait stage + 1 micro-batches: those that
// come before the last input gradient lengthen `own`, the others follow it. With equal stages this is
// m U + (p-1) max(F + B_in - W, F, B_in). The label is the sum of f and input gradients, the span from the
// first forward pass to the last input gradient, and the end of the last weight gradient of all stages so
// far.
PipelineLabel extended(const PipelineShape& shape, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t s) {
  const std::int64_t micro_batches = shape.micro_batches;
  const auto m = static_cast<double>(micro_batches);
  const std::int64_t stage = shape.stages - s;
  const auto [sum, span, end] = after;
  const double f = pass.f;
  const double w = pass.weight;
  const double b = pass.b - w;
  const auto last = static_cast<double>(std::min(stage + 1, micro_batches));
  const double before = (m - last) * w;
  double own = 0;
  if (micro_batches > s) {
    // Weight gradients between the last forward pass and the last input gradient.
    const auto between = static_cast<double>(
        std::max<std::int64_t>(0, micro_batches - 1 - std::max(micro_batches - s, stage)));
    const auto later = static_cast<double>(s - 1);
    own =
        m * (f + b) + before + std::max(0.0, sum - later * f) + std::max(0.0, sum - later * b - between * w);
  } else {
    own = std::max({m * (f + b) + before, sum + m * f + b, sum + f + m * b + before});
  }
  const double own_span = std::max(own, f + span + b);
  return {sum + f + b, own_span, std::max(own_span + last * w, f + end)};
}

double total(const PipelineShape& /*shape*/, const PipelineLabel& label) {
  return label[2];
}

// Some stage of the k others takes at least the mean. A stage works m u, and stages before it begin at least
// their f earlier.
double bound(const PipelineShape& shape, const PipelineLabel& label, double k, double f, double b) {
  return std::max(f + label[2], static_cast<double>(shape.micro_batches) * (f + b) / k);
}

double whole(const PipelineShape& shape, double /*f*/, double /*b*/, const StagePass& longest) {
  return static_cast<double>(shape.micro_batches) * (longest.f + longest.b);
}

constexpr PipelineForm kForm{extended, total, bound, whole};
constexpr std::array<FrameworkWord, 1> kWords{{{"torchtitan", ""}}};

}  // namespace

constinit const PipelineSchedule kZbH1{.id = Schedule::zb_h1,
                                       .name = "zb-h1",
                                       .splits_backward = true,
                                       .frameworks = kWords,
                                       .order = order,
                                       .in_flight = in_flight,
                                       .form = &kForm};

}  // namespace nest::plan
