// GPipe: all forward passes, then all backward passes.
#include <algorithm>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

std::vector<Task> order(const ScheduleShape& shape, std::int64_t /*stage*/) {
  std::vector<Task> order;
  order.reserve(static_cast<std::size_t>(2 * shape.micro_batches));
  for (const TaskKind kind : {TaskKind::forward, TaskKind::backward}) {
    for (std::int64_t k = 0; k < shape.micro_batches; ++k) order.push_back(task_of(kind, k));
  }
  return order;
}

std::int64_t in_flight(const ScheduleShape& shape, std::int64_t /*stage*/) {
  return shape.micro_batches;
}

// Forward passes are a flow shop of equal jobs, and so are backward passes; nothing runs beside both. The
// label is the sum of f + b, the longest f and the longest b.
PipelineLabel extended(const PipelineShape& /*shape*/, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t /*s*/) {
  const double u = pass.f + pass.b;
  return {after[0] + u, std::max(after[1], pass.f), std::max(after[2], pass.b)};
}

double total(const PipelineShape& shape, const PipelineLabel& label) {
  return label[0] + static_cast<double>(shape.micro_batches - 1) * (label[1] + label[2]);
}

// Some stage of the k others takes at least the mean of each sum; sums and greatest values only grow.
double bound(const PipelineShape& shape, const PipelineLabel& label, double k, double f, double b) {
  const auto m = static_cast<double>(shape.micro_batches);
  return label[0] + f + b + (m - 1) * (std::max(label[1], f / k) + std::max(label[2], b / k));
}

// max f + max b is at least the longest stage's f + b.
double whole(const PipelineShape& shape, double f, double b, const StagePass& longest) {
  return f + b + static_cast<double>(shape.micro_batches - 1) * (longest.f + longest.b);
}

constexpr PipelineForm kForm{extended, total, bound, whole};
constexpr std::array<FrameworkWord, 1> kWords{{{"torchtitan", "GPipe"}}};

}  // namespace

constinit const PipelineSchedule kGPipe{.id = Schedule::gpipe,
                                        .name = "gpipe",
                                        .frameworks = kWords,
                                        .order = order,
                                        .in_flight = in_flight,
                                        .form = &kForm};

}  // namespace nest::plan
