#include "nest/solve/ask/verify.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::solve {
namespace {

Plan priced_example(const PlanInputs& inputs) {
  Pricer pricer(inputs);
  const Plan plan = pricer.place(pricer.complete(test::example_plan({{0, 1}, {2}}, 2, 1)));
  return with_results(plan, pricer.price(plan));
}

TEST(Verify, LetsTheTruthPass) {
  const PlanInputs inputs = test::example_inputs();
  EXPECT_EQ(verify_plan(priced_example(inputs), inputs), std::nullopt);
}

TEST(Verify, NamesBothStepsWhereTheyDiffer) {
  const PlanInputs inputs = test::example_inputs();
  Plan plan = priced_example(inputs);
  plan.predicted->step = Seconds{0.05};
  EXPECT_EQ(verify_plan(plan, inputs), "the search says 0.05 s a step, the price is 0.078515 s");
}

TEST(Verify, WantsTheSamePipelineModel) {
  const PlanInputs inputs = test::example_inputs();
  EXPECT_NE(verify_plan(priced_example(inputs), inputs, {.pipeline_model = PipelineModel::paper}),
            std::nullopt);
}

TEST(Verify, RefusesPlansThatAreNone) {
  const PlanInputs inputs = test::example_inputs();
  Plan twice = priced_example(inputs);
  twice.stages[1].devices = twice.stages[0].devices;
  EXPECT_EQ(verify_plan(twice, inputs)->find("the price calls the plan invalid"), 0U);
  Plan bare = priced_example(inputs);
  for (Stage& stage : bare.stages) stage.devices.clear();
  EXPECT_EQ(verify_plan(bare, inputs), "the plan is not complete: devices or a prediction is missing");
}

// Layers that cost something else each time they are asked for: the search sees another price than the gate.
TEST(Verify, ADisagreementIsAStatusAndNoPlan) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("gpt2", "h100-spine-leaf", "plain", warnings);
  const auto own = subgraph_strategies();
  inputs.strategies.assign(own.begin(), own.end());
  double grown = 1;
  inputs.strategies.push_back({"drift", "grows by 10 % each time", [](const Strategy&) { return true; },
                               [](const LayerType&, const Strategy&) { return std::nullopt; },
                               [&](LayerTransform& layer) {
                                 grown *= 1.1;
                                 for (TensorIndex i = 0; i < layer.tensors(); ++i)
                                   layer.stretch(i, Axis::sequence, grown);
                               }});
  Asked asked;
  asked.devices = 8;
  asked.global_batch = 8;
  asked.threads = 1;
  for (const char* choice : {"tensor", "pipeline", "micro-batch", "zero"}) set_asked(asked, choice, "1");
  const SearchResult found = search(inputs, asked);
  EXPECT_EQ(found.status, PlanStatus::disagreement);
  EXPECT_EQ(name_of(found.status), "disagreement");
  EXPECT_TRUE(found.plans.empty());
  EXPECT_NE(found.reason.find("s a step, the price is"), std::string::npos) << found.reason;
  EXPECT_NE(found.instance.find("stages"), nullptr);
  EXPECT_EQ(found.lower_bound, Seconds{});
}

}  // namespace
}  // namespace nest::solve
