// 1F1B (PipeDream-Flush; Megatron-LM's default): each stage warms up with one forward pass for every stage
// after it, then runs forward and backward passes in turn.
#include <algorithm>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {
namespace {

std::int64_t warm_up(const ScheduleShape& shape, std::int64_t stage) {
  return std::min(shape.micro_batches, shape.stages - stage - 1);
}

std::vector<Task> order(const ScheduleShape& shape, std::int64_t stage) {
  std::vector<Task> order;
  order.reserve(static_cast<std::size_t>(2 * shape.micro_batches));
  alternate(
      warm_up(shape, stage), shape.micro_batches,
      [&](std::int64_t k) { order.push_back(task_of(TaskKind::forward, k)); },
      [&](std::int64_t k) { order.push_back(task_of(TaskKind::backward, k)); });
  return order;
}

std::int64_t in_flight(const ScheduleShape& shape, std::int64_t stage) {
  return std::min(shape.micro_batches, warm_up(shape, stage) + 1);
}

// The label is S, the sum of the stages' u = f + b, and V, the time from the first forward pass of the first
// of them to its last backward pass.
PipelineLabel extended(const PipelineShape& shape, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t s) {
  const double u = pass.f + pass.b;
  const auto m = static_cast<double>(shape.micro_batches);
  const auto later = static_cast<double>(s - 1);
  const double sum = after[0];
  const double own = shape.micro_batches > s
                         ? m * u + std::max(0.0, sum - later * pass.f) + std::max(0.0, sum - later * pass.b)
                         : std::max(m * u, sum + u + (m - 1) * std::max(pass.f, pass.b));
  return {u + sum, std::max(own, u + after[1]), 0};
}

double total(const PipelineShape& /*shape*/, const PipelineLabel& label) {
  return label[1];
}

// With S the sum of the last s stages' u = f + b, V their span, and k = p - s stages before them that take X
// in sum. Write s_i for a stage's number from the end, P_i and S_i for the sums before and after it; then
// V_p >= P_i + own_i for every i.
//
// (1) V_p >= X + V, and m * (X / k), since own_i >= m u_i and some u_i >= X / k.
// (2) m > p: own_i >= m u_i + (S_i - (s_i-1) f_i) + (S_i - (s_i-1) b_i), so
//     V_p >= P_i + (m - s_i + 1) u_i + 2 S_i.
//     Number the k stages from the front, s_i = p + 1 - i, and average with weights l_i that give every u_i
//     the same factor C: l_i = (C - 1 - L_{i-1}) / (m - p + i - 1), where L_i = l_1 + .. + l_i. With D_i = C
//     - 1 - L_i this is D_i = D_{i-1} (m-p+i-2) / (m-p+i-1), so D_k = (C-1) (m-p-1) / (m-p+k-1); and L_k = 1
//     asks for D_k = C - 2. That gives C = 2 + (m-p-1) / k, all l_i >= 0, and V_p >= C X + 2 S.  (k = p: (m +
//     p - 1) / p times the sum.)
// (3) any m: V_p >= X + S + (m-1) max(f_i, b_i). Where m <= s_i, own_i has it as a term. Where m > s_i:
//     own_i >= m u_i + S_i - (s_i-1) min(f_i, b_i), and s_i - 1 <= m - 1. Some f_i is at least F / k, and
//     some b_i at least B / k, with F + B = X.
double bound(const PipelineShape& shape, const PipelineLabel& label, double k, double f, double b) {
  const auto m = static_cast<double>(shape.micro_batches);
  const auto p = static_cast<double>(shape.stages);
  const double x = f + b;
  const double sum = label[0];
  const double mean = x / k;
  double least = std::max({x + label[1], m * mean, x + sum + (m - 1) * std::max(f, b) / k});
  if (m > p) least = std::max(least, 2 * (x + sum) + (m - p - 1) * mean);
  return least;
}

// With the stage i that takes `longest` or more: from (2) and (3) above, V_p >= sum + (m - s_i) u_i where
// m > p >= s_i, and V_p >= m u_i always.
double whole(const PipelineShape& shape, double f, double b, const StagePass& longest) {
  const auto m = static_cast<double>(shape.micro_batches);
  const auto p = static_cast<double>(shape.stages);
  const double u = longest.f + longest.b;
  const double least = std::max(m * u, f + b + (m - 1) * std::max(longest.f, longest.b));
  return m > p ? std::max(least, f + b + (m - p) * u) : least;
}

constexpr PipelineForm kForm{extended, total, bound, whole};
constexpr std::array<FrameworkWord, 3> kWords{
    {{"megatron", "1f1b"}, {"torchtitan", "1F1B"}, {"deepspeed", "1f1b"}}};

}  // namespace

constinit const PipelineSchedule kOneFOneB{.id = Schedule::one_f_one_b,
                                           .name = "1f1b",
                                           .by_default = true,
                                           .frameworks = kWords,
                                           .order = order,
                                           .in_flight = in_flight,
                                           .form = &kForm};

}  // namespace nest::plan
