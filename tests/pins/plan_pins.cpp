// Steps and memory of whole plans: what a recipe lets hide behind what, what it reserves, and what was fitted
// to published runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "nest/price/price.hpp"
#include "nest/validate/runs/fitted.hpp"
#include "pins/pin_table.hpp"

namespace nest::pins {
namespace {

using namespace price;

// "tensor=2 pipeline=4 zero=1": degrees that are left out are 1, nothing is recomputed, and the recipe has the
// optimizer.
Plan plan_of(const std::string& text, const Recipe& recipe) {
  const std::map<std::string, std::string> words = words_in(text);
  const auto whole = [&](const char* key, std::int64_t otherwise) {
    const auto at = words.find(key);
    return at == words.end() ? otherwise : std::stoll(at->second);
  };
  Plan plan;
  plan.training.global_batch = whole("batch", 64);
  plan.training.sequence = whole("sequence", 2048);
  plan.training.micro_batch = whole("micro_batch", 1);
  plan.training.precision = recipe.precision;
  plan.training.optimizer = words.contains("muon") ? Optimizer::muon : recipe.optimizer;
  Parallelism& p = plan.parallelism;
  p.strategy = {.tensor = whole("tensor", 1),
                .sequence_parallel = whole("tensor", 1) > 1,
                .context = whole("context", 1),
                .expert = whole("expert", 1),
                .expert_tensor = whole("expert_tensor", 0)};
  p.pipeline = whole("pipeline", 1);
  p.data = whole("data", 1);
  plan.training.micro_batches = plan.training.global_batch / (p.data * plan.training.micro_batch);
  p.zero = whole("zero", 0);
  p.interleave = whole("interleave", 1);
  p.schedule = p.interleave > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  if (words.contains("full")) plan.default_recompute.policy = RecomputePolicy::full;
  return plan;
}

// The step, its pipeline alone, and the memory of the fullest stage.
std::vector<double> figures_of(PlanInputs inputs, const std::string& text) {
  const Plan plan = plan_of(text, inputs.recipe);
  Pricer pricer(std::move(inputs));
  const PricedPlan priced = pricer.price(pricer.complete(plan));
  Bytes most;
  for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total());
  EXPECT_TRUE(priced.status != PriceStatus::invalid) << text << ": " << priced.reason;
  return {priced.predicted.step.value, priced.pipeline.value, static_cast<double>(most.value)};
}

TEST(Pins, Plans) {
  check_pins("plans", [](const PinRow& row) {
    Warnings warnings;
    PlanInputs inputs = load_inputs(row["model"], row["cluster"], row["recipe"], warnings);
    return figures_of(std::move(inputs), row["plan"]);
  });
}

// Constants that were fitted to the runs of a project, with them and as if its runs had not been seen.
TEST(Pins, FittedToRuns) {
  check_pins("fitted_to_runs", [](const PinRow& row) {
    Warnings warnings;
    PlanInputs inputs = load_inputs(row["model"], row["cluster"], row["recipe"], warnings);
    validate::put_fitted(inputs.recipe, row["framework"], row["left_out"]);
    ClusterParts parts = inputs.cluster.parts();
    parts.accelerator = validate::without_fit(parts.accelerator, row["left_out"]);
    inputs.cluster = Cluster(std::move(parts));
    return figures_of(std::move(inputs), row["plan"]);
  });
}

}  // namespace
}  // namespace nest::pins
