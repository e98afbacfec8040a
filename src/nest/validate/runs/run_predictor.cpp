#include "nest/validate/runs/run_predictor.hpp"

#include <algorithm>

#include "nest/base/error.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/price/price.hpp"
#include "nest/price/uncertainty.hpp"

namespace nest::validate {

const StageMemory* RunPrediction::fullest() const {
  const auto most =
      std::max_element(stages.begin(), stages.end(),
                       [](const StageMemory& a, const StageMemory& b) { return a.total() < b.total(); });
  return most == stages.end() ? nullptr : &*most;
}

RunPrediction price_run(const PreparedRun& run) {
  RunPrediction out;
  try {
    Pricer pricer(run.inputs);
    const PricedPlan priced = pricer.price(pricer.complete(run.plan));
    if (priced.status == PriceStatus::invalid) {
      out.why_not = "no valid plan: " + priced.reason;
      return out;
    }
    out.step = priced.predicted.step;
    out.interval = priced.predicted.interval;
    if (const auto traits = traits_of(run.inputs, run.plan.training, run.plan.parallelism.devices()))
      out.like = time_spread(*traits).name;
    out.breakdown = priced.predicted.breakdown;
    if (run.last_share < 1) {
      Plan without = run.plan;
      --without.training.micro_batches;
      without.training.global_batch -= without.training.micro_batch * without.parallelism.data;
      const Seconds less = pricer.price(pricer.complete(without)).predicted.step;
      const double part = (less + run.last_share * (out.step - less)) / out.step;
      out.step = part * out.step;
      out.interval.low = part * out.interval.low;
      out.interval.high = part * out.interval.high;
      for (const auto& key : kBreakdownKeys) out.breakdown.*key.member = part * out.breakdown.*key.member;
    }
    out.fits = priced.status == PriceStatus::feasible;
    for (const StageCost& stage : priced.stages) out.stages.push_back(stage.memory);
  } catch (const InputError& e) {
    out.why_not = "no plan: " + e.problem();
  }
  return out;
}

}  // namespace nest::validate
