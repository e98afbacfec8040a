// The closed-form cost and memory of any complete plan (docs/cost-model.md, "A step"). A Pricer keeps what
// plans have in common (layers under a strategy, placements), so that pricing many is fast.
//
//   Pricer pricer(inputs);
//   const PricedPlan priced = pricer.price(pricer.complete(plan));
//   priced.predicted.step, priced.stages[0].memory.total()
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {

struct PriceOptions {
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  double compute_time = 1;   // every kernel takes so many times as long: for what-if questions
  double memory_margin = 0;  // so large a share of a device's memory is kept free
};

enum class PriceStatus { feasible, infeasible, invalid };
[[nodiscard]] std::string_view name_of(PriceStatus status);

struct PricedPlan {
  PriceStatus status = PriceStatus::feasible;
  std::string reason;  // why infeasible or invalid
  // The rest is empty where the plan is invalid.
  Prediction predicted;
  Seconds pipeline;  // V: from the first forward to the end of the last backward pass
  std::vector<StageCost> stages;
};

// The plan with the results written into it: predicted, and time and memory of every stage.
[[nodiscard]] Plan with_results(Plan plan, const PricedPlan& priced);

class Pricer {
 public:
  explicit Pricer(PlanInputs inputs, const PriceOptions& options = {});
  ~Pricer();
  Pricer(Pricer&&) noexcept;
  Pricer& operator=(Pricer&&) noexcept;

  [[nodiscard]] const PlanInputs& inputs() const;

  // Fills in what a plan leaves open: micro-batches, degrees that follow from others, the even split of
  // layers. What cannot be completed is an InputError.
  [[nodiscard]] Plan complete(Plan plan);
  // Devices by the placement rule where the plan has none. Throws an InputError where they do not fit.
  [[nodiscard]] Plan place(Plan plan);

  // The plan must be complete, placed or not (where it is not, the placement rule applies). Bad plans are a
  // status, not an error.
  [[nodiscard]] PricedPlan price(const Plan& plan);
  // The same into an existing value, whose memory is used again.
  void price(const Plan& plan, PricedPlan& priced);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nest::price
