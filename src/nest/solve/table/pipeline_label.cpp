#include "nest/solve/table/pipeline_label.hpp"

#include <algorithm>

namespace nest::solve {
namespace {

PipelineLabel zb_h1(const PipelineShape& shape, const PipelineLabel& after, const StagePass& pass,
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

// 1F1B with S the sum of the last s stages' u = f + b, V their span, and k = p - s stages before them that
// take X in sum. Write s_i for a stage's number from the end, P_i and S_i for the sums before and after it;
// then V_p >= P_i + own_i for every i.
//
// (1) V_p >= X + V, and m * (X / k), since own_i >= m u_i and some u_i >= X / k.
// (2) m > p: own_i >= m u_i + (S_i - (s_i-1) f_i) + (S_i - (s_i-1) b_i), so
//     V_p >= P_i + (m - s_i + 1) u_i + 2 S_i.
//     Number the k stages from the front, s_i = p + 1 - i, and average with weights l_i that give every u_i
//     the same factor C: l_i = (C - 1 - L_{i-1}) / (m - p + i - 1), where L_i = l_1 + .. + l_i. With D_i = C
//     - 1 - L_i this is D_i = D_{i-1} (m-p+i-2) / (m-p+i-1), so D_k = (C-1) (m-p-1) / (m-p+k-1); and L_k = 1
//     asks for D_k = C - 2. That gives C = 2 + (m-p-1) / k, all l_i >= 0, and V_p >= C X + 2 S.  (k = p: (m +
//     p - 1) / p times the sum.)
// (3) any m: V_p >= X + S + (m-1)/2 * u_i. Where m <= s_i: own_i >= S_i + u_i + (m-1) max(f_i, b_i), and
//     max(f, b) >= u / 2. Where m > s_i: own_i >= m u_i + S_i - (s_i-1) min(f_i, b_i), min(f, b) <= u / 2,
//     and s_i - 1 <= m - 1.
double one_f_one_b_bound(const PipelineShape& shape, const PipelineLabel& label, double k, double x) {
  const auto m = static_cast<double>(shape.micro_batches);
  const auto p = static_cast<double>(shape.stages);
  const double sum = label[0];
  const double mean = x / k;
  double bound = std::max({x + label[1], m * mean, x + sum + (m - 1) / 2 * mean});
  if (m > p) bound = std::max(bound, 2 * (x + sum) + (m - p - 1) * mean);
  return bound;
}

}  // namespace

PipelineForm pipeline_form(Schedule schedule, PipelineModel model) {
  if (model == PipelineModel::sum_max) return PipelineForm::sum_max;
  if (model == PipelineModel::paper) return PipelineForm::paper;
  if (schedule == Schedule::gpipe) return PipelineForm::gpipe;
  return schedule == Schedule::zb_h1 ? PipelineForm::zb_h1 : PipelineForm::one_f_one_b;
}

PipelineLabel extended(const PipelineShape& shape, const PipelineLabel& after, const StagePass& pass,
                       std::int64_t s) {
  const double u = pass.f + pass.b;
  switch (shape.form) {
    case PipelineForm::gpipe:
      return {after[0] + u, std::max(after[1], pass.f), std::max(after[2], pass.b)};
    case PipelineForm::zb_h1:
      return zb_h1(shape, after, pass, s);
    case PipelineForm::sum_max:
      return {after[0] + u, std::max(after[1], u), 0};
    case PipelineForm::paper:
      return {std::max(after[0], u), 0, 0};
    case PipelineForm::one_f_one_b:
      break;
  }
  const PipelineTail tail = with_stage({after[0], after[1]}, pass, s, shape.micro_batches);
  return {tail.sum, tail.span, 0};
}

double pipeline_total(const PipelineShape& shape, const PipelineLabel& label) {
  const auto m = static_cast<double>(shape.micro_batches);
  switch (shape.form) {
    case PipelineForm::gpipe:
      return label[0] + (m - 1) * (label[1] + label[2]);
    case PipelineForm::zb_h1:
      return label[2];
    case PipelineForm::sum_max:
      return label[0] + (m - 1) * label[1];
    case PipelineForm::paper:
      return (m + static_cast<double>(shape.stages) - 1) * label[0];
    case PipelineForm::one_f_one_b:
      break;
  }
  return label[1];
}

// Some stage of the k others takes at least the mean of each sum; sums and greatest values only grow. ZB-H1:
// a stage works m u, and stages before it begin at least their f earlier.
double pipeline_bound(const PipelineShape& shape, const PipelineLabel& label, std::int64_t s, double f,
                      double b) {
  if (s >= shape.stages) return pipeline_total(shape, label);
  const auto m = static_cast<double>(shape.micro_batches);
  const auto k = static_cast<double>(shape.stages - s);
  const double x = f + b;
  switch (shape.form) {
    case PipelineForm::gpipe:
      return label[0] + x + (m - 1) * (std::max(label[1], f / k) + std::max(label[2], b / k));
    case PipelineForm::zb_h1:
      return std::max(f + label[2], m * x / k);
    case PipelineForm::sum_max:
      return label[0] + x + (m - 1) * std::max(label[1], x / k);
    case PipelineForm::paper:
      return (m + static_cast<double>(shape.stages) - 1) * std::max(label[0], x / k);
    case PipelineForm::one_f_one_b:
      break;
  }
  return one_f_one_b_bound(shape, label, k, x);
}

// With the stage i that takes `longest` or more: 1F1B, from (2) and (3) above, V_p >= sum + (m - s_i) u_i
// where m > p >= s_i, and V_p >= m u_i always.
double pipeline_bound(const PipelineShape& shape, double f, double b, double longest) {
  const auto m = static_cast<double>(shape.micro_batches);
  const auto p = static_cast<double>(shape.stages);
  double bound = pipeline_bound(shape, {}, 0, f, b);
  switch (shape.form) {
    case PipelineForm::sum_max:
      return std::max(bound, f + b + (m - 1) * longest);
    case PipelineForm::paper:
      return std::max(bound, (m + p - 1) * longest);
    case PipelineForm::gpipe:
      // max f + max b is at least the longest stage's f + b.
      return std::max(bound, f + b + (m - 1) * longest);
    case PipelineForm::one_f_one_b:
      if (m > p) bound = std::max(bound, f + b + (m - p) * longest);
      bound = std::max(bound, f + b + (m - 1) / 2 * longest);
      break;
    case PipelineForm::zb_h1:
      break;
  }
  return std::max(bound, m * longest);
}

// Stage i begins after the first chunks of the stages before it have run forward, and those run backward
// after its end: V >= m U_i + sum_{k<i} u_k of first chunks, all of which but the first stage's take `chunk`
// or more. Averaged over i: (0 + 0 + 1 + .. + p-2) / p chunks more than m times the mean.
double interleaved_bound(std::int64_t stages, std::int64_t micro_batches, double sum, double longest,
                         double chunk) {
  const auto m = static_cast<double>(micro_batches);
  const auto p = static_cast<double>(stages);
  return std::max({sum, m * longest, m * sum / p + chunk * (p - 1) * (p - 2) / (2 * p)});
}

}  // namespace nest::solve
