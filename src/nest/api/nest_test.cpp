#include "nest/api/nest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest {

// The sample in the header's comment, as the program that cmake/sample.cmake makes of it.
bool run_sample_of_header();

namespace {

using testing::HasSubstr;

TEST(Api, OpensTheDefaults) {
  Warnings warnings;
  EXPECT_EQ(open_model("llama3.1-70b", {}, warnings).parameters(), 70'553'706'496);
  EXPECT_EQ(load_cluster("h100-spine-leaf").devices(), 1024);
  EXPECT_EQ(load_recipe("megatron").framework, "megatron");
  EXPECT_TRUE(warnings.empty());
}

TEST(Api, TheSampleOfTheHeaderCompilesAndRuns) {
  EXPECT_TRUE(run_sample_of_header());
}

TEST(Api, PlansPricesAndExports) {
  Warnings warnings;
  Asked asked;
  asked.devices = 8;
  asked.global_batch = 64;
  asked.choices.pipeline = Choice(1);
  asked.choices.tensor = Choice(1);
  const PlanInputs inputs = load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings);
  const PlanQuestion question = make_question(inputs, asked);
  const SearchResult found = search(inputs, asked);
  ASSERT_FALSE(found.plans.empty());
  const Plan& plan = found.plans.front();
  EXPECT_EQ(plan.parallelism.pipeline, 1);
  EXPECT_EQ(price_plan(plan, question.inputs).status, PriceStatus::feasible);
  EXPECT_DOUBLE_EQ(price_plan(plan, question.inputs).predicted.step.value, plan.predicted->step.value);
  EXPECT_FALSE(export_plan(plan, question.inputs, "placement").files.empty());
}

TEST(Api, SaysWhatCannotBeExported) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings);
  const auto refusal = [&](const Plan& plan, const char* target) -> std::string {
    try {
      (void)export_plan(plan, inputs, target);
    } catch (const InputError& error) {
      return error.what();
    }
    return "exported";
  };
  Plan plan;
  plan.training.global_batch = 1024;
  plan.training.sequence = 1024;
  plan.parallelism.data = 1024;
  EXPECT_THAT(refusal(plan, "megatorn"), HasSubstr("did you mean 'megatron'?"));
  plan.parallelism.zero = 1;
  EXPECT_THAT(refusal(plan, "torchtitan"), HasSubstr("rule '"));
}

TEST(Api, HasAVersion) {
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace nest
