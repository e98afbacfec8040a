#include "nest/price/step_time.hpp"

#include <algorithm>

namespace nest::price {

void step_time(const Plan& plan, PipelineModel model, std::vector<StagePass>& passes, PricedPlan& out) {
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
    for (const ChunkCost& c : out.stages[i].chunks) {
      const StagePass pass{c.f().value, c.b().value, c.backward_weight.value};
      if (by_chunk) passes.push_back(pass);
      sum = {sum.f + pass.f, sum.b + pass.b, sum.weight + pass.weight};
    }
    if (!by_chunk) passes.push_back(sum);
    if (sum.f + sum.b > most) {
      most = sum.f + sum.b;
      longest = i;
    }
  }
  out.pipeline = by_chunk ? interleaved_time(passes, p.pipeline, t.micro_batches)
                          : pipeline_time(p.schedule, model, passes, t.micro_batches, p.interleave);
  // Sends that passes hide still hold up the first micro-batch on its way out and the last on its way back.
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    const ChunkCost& c = out.stages[i].chunks.front();
    if (i > 0) out.pipeline += c.forward_hidden;
    if (i + 1 < out.stages.size()) out.pipeline += c.backward_hidden;
  }
  // The end of the step (DESIGN.md section 5): later stages finish earlier, and start later in the next step.
  // With ZB-H1 later stages finish with their delayed weight gradients, as late as the first: nothing hides
  // behind the others' backward passes.
  const bool delayed = p.schedule == Schedule::zb_h1;
  double reduce = 0;
  double slow_down = 0;
  double norm = 0;
  double finish = 0;
  double optimizer = 0;
  double before_b = 0;
  double before_f = 0;
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    const StageCost& s = out.stages[i];
    // All stages share the links equally: when stage i begins, those before it (it ends first) have not
    // begun, so that by the end the links have to carry the share of stages 0 to i. A stage alone takes its
    // own time.
    const double shared =
        s.reduce.value * static_cast<double>(i + 1) / static_cast<double>(out.stages.size());
    const double own = std::max(s.reduce_alone.value, shared);
    reduce = std::max(reduce, own - (delayed ? 0 : before_b));
    slow_down = std::max(slow_down, s.slow_down.value);
    norm = std::max(norm, s.norm.value);
    const double end = s.optimizer.value + std::max(0.0, s.gather.value - before_f);
    if (end > finish) {
      finish = end;
      optimizer = s.optimizer.value;
    }
    before_b += s.chunks.front().b().value;
    before_f += s.chunks.front().f().value;
  }
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
  parts_of.data = Seconds{reduce + slow_down};
  parts_of.zero = m * own.zero + Seconds{finish - optimizer};
  parts_of.optimizer = Seconds{norm + optimizer};
  result.step = parts_of.total();
}

}  // namespace nest::price
