#include "nest/price/step_time.hpp"

#include <algorithm>

#include "nest/plan/plan.hpp"
#include "nest/price/step_label.hpp"

namespace nest::price {
namespace {

StageEnd stage_end(const std::vector<StageCost>& stages, std::size_t i, Schedule schedule) {
  const StageCost& s = stages[i];
  const ChunkCost& front = s.chunks.front();
  StageEnd own{.reduce = shared_reduce(s.reduce_alone.value, s.reduce.value, i, stages.size()),
               .gather = s.gather.value,
               .optimizer = s.optimizer.value,
               .slow_down = s.slow_down.value,
               .norm = s.norm.value,
               .hides_gathers = front.f().value};
  if (i > 0) own.hidden += front.forward_hidden.value;
  if (i + 1 < stages.size()) own.hidden += front.backward_hidden.value;
  // Where weight gradients wait, later stages finish with them, as late as the first.
  if (!schedule_of(schedule).splits_backward) own.hides_reduces = front.b().value;
  return own;
}

}  // namespace

void step_time(const Plan& plan, PipelineModel model, std::vector<StagePass>& passes, const Waiting& waiting,
               PricedPlan& out) {
  const Parallelism& p = plan.parallelism;
  const Training& t = plan.training;
  const auto v = static_cast<std::size_t>(p.interleave);
  const auto m = static_cast<double>(t.micro_batches);
  const bool by_chunk = v > 1 && model == PipelineModel::one_f_one_b;
  passes.clear();
  std::size_t longest = 0;
  double most = -1;
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    StagePass sum;
    for (const ChunkCost& c : out.stages[i].chunks)
      sum = {sum.f + c.f().value, sum.b + c.b().value, sum.weight + c.backward_weight.value};
    if (by_chunk) {
      add_passes(out.stages[i].chunks, p.schedule, passes);
    } else {
      passes.push_back(sum);
    }
    const double own = sum.f + sum.b - out.stages[i].saved().value;
    if (own > most) {
      most = own;
      longest = i;
    }
  }
  out.pipeline = by_chunk ? chunk_time(p.schedule, passes, p.pipeline, t.micro_batches)
                          : pipeline_time(p.schedule, model, passes, t.micro_batches, p.interleave);
  StepLabel end;
  double updating = 0;  // of end.finish: the optimizer
  for (std::size_t i = out.stages.size(); i-- > 0;) {
    const StageEnd own = stage_end(out.stages, i, p.schedule);
    const double later = end.finish - own.hides_gathers;
    if (own.optimizer + own.gather >= later) updating = own.optimizer;
    end = end.with(own);
  }
  out.pipeline += Seconds{end.hidden};
  const double optimizer = end.finish > end.optimizer ? updating : end.optimizer;
  Prediction& result = out.predicted;
  result = {};
  Breakdown& parts_of = result.breakdown;
  const StageTime own = out.stages[longest].time();
  parts_of.compute = m * (own.forward + own.backward);
  parts_of.recompute = m * own.recompute;
  parts_of.tensor = m * own.tensor;
  parts_of.expert = m * own.expert;
  parts_of.context = m * own.context;
  parts_of.pipeline = m * own.pipeline;
  // With one stage there is no bubble: what is left is rounding.
  parts_of.bubble =
      Seconds{out.stages.size() == 1 ? 0 : std::max(0.0, out.pipeline.value - m * own.total().value)};
  parts_of.data = Seconds{end.reduce + end.slow_down};
  parts_of.zero = m * own.zero + Seconds{end.update() - optimizer};
  const bool offloaded = !out.stages.empty() && out.stages.front().offload.has_value();
  parts_of.optimizer = Seconds{offloaded ? end.norm : end.norm + optimizer};
  parts_of.offload = m * own.offload + Seconds{offloaded ? optimizer : 0};
  // Ranks meet where gradients are reduced: that is where they wait.
  result.stragglers = (waiting.factor - 1) * parts_of.total() + waiting.more;
  parts_of.data += result.stragglers;
  result.step = parts_of.total();
}

}  // namespace nest::price
