#include "nest/question/make_question.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::question {
using namespace solve;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PlanInputs inputs(const std::string& model, const std::string& cluster = "h100-spine-leaf",
                  const std::string& recipe = "megatron") {
  Warnings warnings;
  return load_inputs(model, cluster, recipe, warnings);
}

Asked asked(const std::vector<std::pair<std::string, std::string>>& fields) {
  Asked out;
  for (const auto& [name, text] : fields) set_asked(out, name, text);
  return out;
}

std::string refusal(PlanInputs given, const Asked& what) {
  try {
    (void)make_question(std::move(given), what);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MakeQuestion, FillsInDefaults) {
  const PlanQuestion q = make_question(inputs("llama3.1-70b"));
  EXPECT_EQ(q.training.global_batch, 1024);
  EXPECT_EQ(q.training.sequence, 8192);
  EXPECT_EQ(q.inputs.cluster.devices(), 1024);
  EXPECT_FALSE(q.whole);
  EXPECT_TRUE(q.notes.empty());
  EXPECT_EQ(make_question(inputs("gpt2-xl")).training.sequence, 1024);
}

TEST(MakeQuestion, PlansFitWithNinetyFivePercent) {
  const auto margin = [](const std::vector<std::pair<std::string, std::string>>& fields) {
    return make_question(inputs("llama3.1-8b"), asked(fields)).options.memory_margin;
  };
  const double usual = margin({});
  EXPECT_GT(usual, 0.03);
  EXPECT_LT(usual, 0.2);
  EXPECT_EQ(margin({{"fits", "95%"}}), usual);
  EXPECT_LT(margin({{"fits", "0.8"}}), usual);
  EXPECT_EQ(margin({{"memory-margin", "8%"}}), 0.08);
  EXPECT_EQ(margin({{"memory-margin", "8%"}, {"fits", "0.5"}}), 0.08);  // overrides
  EXPECT_EQ(margin({{"memory-margin", "8%"}, {"risky", "on"}}), 0);
  EXPECT_EQ(margin({{"fits", "0.99"}, {"risky", "on"}}), 0);
  EXPECT_EQ(make_question(inputs("llama3.1-8b", "h100-spine-leaf", "plain")).options.memory_margin, 0);
  EXPECT_THAT(make_question(inputs("llama3.1-8b"), asked({{"fits", "0.99"}})).notes,
              ElementsAre(HasSubstr("a plan can be claimed to fit with 96.6 % at most, not 99.0 %")));
}

TEST(QuestionOf, AsksForThePlansTrainingOnItsDevices) {
  Asked wanted =
      asked({{"devices", "64"}, {"global-batch", "96"}, {"sequence", "1024"}, {"train", "lora:8"}});
  const PlanQuestion own = make_question(inputs("llama3.2-1b"), wanted);
  Plan plan;
  plan.training = own.training;
  plan.parallelism.data = 32;
  const PlanInputs& all = own.inputs;
  const PlanQuestion found = question_of(plan, all);
  EXPECT_EQ(found.inputs.cluster.devices(), 32);  // those that it uses
  EXPECT_EQ(found.training.global_batch, 96);
  EXPECT_EQ(found.training.sequence, 1024);
  EXPECT_EQ(found.training.tuning, own.training.tuning);
  plan.lower_bound = Seconds{1};  // of a search, which had all of them
  EXPECT_EQ(question_of(plan, all, PipelineModel::paper).inputs.cluster.devices(), 64);
  EXPECT_EQ(question_of(plan, all, PipelineModel::paper).options.pipeline_model, PipelineModel::paper);
}

// A library call used to ignore both.
TEST(MakeQuestion, PrecisionAndOptimizerAreTheRecipes) {
  PlanInputs given = inputs("gpt2");
  given.recipe.precision = Precision::fp8;
  given.recipe.optimizer = Optimizer::sgd;
  const PlanQuestion q = make_question(given);
  EXPECT_EQ(q.training.precision, Precision::fp8);
  EXPECT_EQ(q.training.optimizer, Optimizer::sgd);
  const SearchResult found =
      search(given, asked({{"devices", "8"}, {"tensor", "1"}, {"pipeline", "1"}, {"global-batch", "64"}}));
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().training.precision, Precision::fp8);
  EXPECT_EQ(found.plans.front().training.optimizer, Optimizer::sgd);
  EXPECT_EQ(make_question(given, asked({{"precision", "bf16"}})).training.precision, Precision::bf16);
}

TEST(MakeQuestion, CutsTheClusterAndKeepsTheWhole) {
  const PlanQuestion q = make_question(inputs("gpt2"), asked({{"devices", "64"}}));
  EXPECT_EQ(q.inputs.cluster.devices(), 64);
  EXPECT_EQ(q.whole->devices(), 1024);
  EXPECT_THAT(refusal(inputs("gpt2"), asked({{"devices", "100"}})), HasSubstr("96 and 128"));
}

TEST(MakeQuestion, PrecisionsThatTheAcceleratorLacks) {
  EXPECT_EQ(refusal(inputs("gpt2", "dgx-a100-superpod"), asked({{"precision", "fp8"}})),
            "precision: a100-80 has no 8-bit matrix products; use bf16");
  PlanInputs given = inputs("gpt2", "dgx-a100-superpod");
  given.recipe.precision = Precision::fp8;
  EXPECT_EQ(refusal(given, {}), "precision: a100-80 has no 8-bit matrix products; use bf16");
  EXPECT_THAT(make_question(inputs("gpt2", "dgx2-v100")).notes, ElementsAre(HasSubstr("has no bf16")));
  EXPECT_TRUE(make_question(inputs("gpt2", "dgx2-v100"), asked({{"precision", "fp16"}})).notes.empty());
}

TEST(MakeQuestion, SequencesThatTheModelDoesNotTake) {
  EXPECT_EQ(refusal(inputs("gpt2"), asked({{"sequence", "4096"}})),
            "sequence: 4096 is beyond the 1024 positions of gpt2; use 1024 or less");
  EXPECT_EQ(refusal(test::example_inputs(), asked({{"sequence", "1024"}})),
            "sequence: the layer profile holds for sequences of 512 tokens");
}

TEST(MakeQuestion, SequencesBeyondTheModelsPositionsAreWarnedOf) {
  const PlanQuestion question = make_question(inputs("llama2-7b"), asked({{"sequence", "128K"}}));
  EXPECT_EQ(question.training.sequence, 131'072);
  EXPECT_THAT(question.notes,
              ElementsAre("sequences of 131,072 tokens are beyond the 4,096 positions of llama2-7b"));
}

TEST(MakeQuestion, FrameworksRunNoChoiceThatTheyLack) {
  const PlanInputs llama = inputs("llama2-7b");
  EXPECT_EQ(refusal(llama, asked({{"for", "deepspeed"}, {"recompute", "selective"}})),
            "recompute: DeepSpeed has no recomputation selective");
  EXPECT_EQ(refusal(llama, asked({{"for", "deepspeed"}, {"schedule", "interleaved"}})),
            "schedule: DeepSpeed has no schedule interleaved");
  EXPECT_EQ(refusal(llama, asked({{"for", "megatron"}, {"mixed", "on"}})),
            "mixed: Megatron-LM runs one strategy in all stages");
  Asked unknown;
  unknown.framework = "megatorn";
  EXPECT_THAT(refusal(llama, unknown), HasSubstr("did you mean 'megatron'?"));
}

TEST(MakeQuestion, FrameworksCutNoModelThatTheyCannot) {
  const PlanQuestion q = make_question(inputs("t5-11b"), asked({{"for", "megatron@core_v0.17"}}));
  EXPECT_EQ(q.space.pipeline, Choice(1));
  EXPECT_THAT(q.notes, ElementsAre("without a pipeline: Megatron-LM cannot cut t5-11b into stages"));
  EXPECT_THAT(refusal(inputs("t5-11b"), asked({{"for", "megatron@core_v0.17"}, {"pipeline", "2..4"}})),
              HasSubstr("pipeline: Megatron-LM cannot divide t5-11b into stages"));
  EXPECT_TRUE(make_question(inputs("t5-11b"), asked({{"for", "deepspeed"}, {"pipeline", "2"}}))
                  .space.pipeline.has(2));
}

TEST(MakeQuestion, FrameworksRefuseModelsDevicesAndPrecisions) {
  const Asked megatron = asked({{"for", "megatron"}});
  EXPECT_EQ(refusal(inputs("t5-11b"), megatron),
            "for: Megatron-LM has neither T5 nor BERT from core_v0.18 on");
  EXPECT_EQ(refusal(inputs("t5-11b"), asked({{"for", "megatron@0.14"}})), "accepted");
  for (const char* cluster : {"tpu-v5p-128", "aws-trn2", "gaudi2-ethernet"})
    EXPECT_EQ(refusal(inputs("gpt2", cluster), megatron),
              "for: Megatron-LM runs on devices with CUDA or ROCm");
  EXPECT_EQ(refusal(inputs("gpt2", "dgx2-v100"), megatron),
            "for: Megatron-LM's bf16 needs devices that compute in bf16; fp16 runs on others");
  EXPECT_EQ(refusal(inputs("gpt2", "dgx2-v100"), asked({{"for", "megatron"}, {"precision", "fp16"}})),
            "accepted");
  Asked old;
  old.framework = "megatron@0.12";
  EXPECT_THAT(refusal(inputs("gpt2"), old), HasSubstr("the nearest is 'megatron@core_v0.14'"));
}

// Megatron-LM's experts want sequence parallelism wherever tensor is above 1.
TEST(MakeQuestion, ExpertsOfMegatronKeepSequenceParallelism) {
  const auto space = [](const char* model, const std::vector<std::pair<std::string, std::string>>& fields) {
    return make_question(inputs(model), asked(fields)).space;
  };
  EXPECT_EQ(space("mixtral-8x7b", {{"for", "megatron"}}).sequence_parallel, std::vector<bool>{true});
  EXPECT_TRUE(space("llama2-7b", {{"for", "megatron"}}).sequence_parallel.empty());
  EXPECT_EQ(space("mixtral-8x7b", {{"for", "megatron"}, {"sequence-parallel", "off"}}).tensor, Choice(1));
  EXPECT_THAT(refusal(inputs("mixtral-8x7b"),
                      asked({{"for", "megatron"}, {"sequence-parallel", "off"}, {"tensor", "2"}})),
              HasSubstr("sequence-parallel: Megatron-LM trains experts with tensor parallelism only if"));
}

TEST(MakeQuestion, SaysWhatRecipeAFrameworkHas) {
  const Asked for_titan = asked({{"for", "torchtitan"}});
  EXPECT_THAT(make_question(inputs("llama2-7b"), for_titan).notes,
              ElementsAre(HasSubstr("priced with the recipe 'megatron'")));
  EXPECT_TRUE(make_question(inputs("llama2-7b", "h100-spine-leaf", "torchtitan"), for_titan).notes.empty());
}

TEST(MakeQuestion, FieldsThatExcludeEachOther) {
  const PlanInputs gpt = inputs("gpt2");
  EXPECT_EQ(refusal(gpt, asked({{"uniform", "on"}, {"mixed", "on"}})),
            "uniform: uniform and mixed exclude each other");
  EXPECT_THAT(refusal(gpt, asked({{"objective", "devices"}})),
              HasSubstr("objective: devices needs target-tokens-per-s"));
  EXPECT_THAT(refusal(gpt, asked({{"objective", "step"}, {"target-tokens-per-s", "5"}})),
              HasSubstr("target-tokens-per-s: a target needs the objective"));
  const PlanQuestion fewest = make_question(gpt, asked({{"target-tokens-per-s", "5"}, {"runners-up", "3"}}));
  EXPECT_EQ(fewest.options.objective, Objective::devices);
  EXPECT_EQ(fewest.options.runners_up, 0);
  EXPECT_EQ(make_question(gpt, asked({{"runners-up", "3"}})).options.runners_up, 3);
  EXPECT_EQ(make_question(gpt, asked({{"runners-up", "3"}, {"gap", "1%"}})).options.runners_up, 0);
}

TEST(MakeQuestion, OtherwiseKeepsInputsAndLimits) {
  PlanQuestion q = make_question(inputs("llama2-7b"), asked({{"devices", "64"}, {"for", "deepspeed"}}));
  q.options.deadline = Deadline(Seconds{1000});
  Asked other = q.asked;
  other.framework.clear();
  const PlanQuestion changed = ask_otherwise(q, other);
  EXPECT_EQ(changed.inputs.cluster.devices(), 64);
  EXPECT_TRUE(changed.options.deadline.limited());
  q.options.deadline.cancel();
  EXPECT_TRUE(changed.options.deadline.over());  // one deadline, not two alike
  EXPECT_EQ(changed.space.rules, nullptr);
  EXPECT_TRUE(changed.space.sequence_parallel.empty());  // DeepSpeed's default goes with its rules
}

TEST(MakeQuestion, HandMadeQuestionsAreCheckedToo) {
  PlanQuestion q = make_question(inputs("gpt2", "dgx-a100-superpod"));
  q.training.precision = Precision::fp8;
  EXPECT_THROW((void)ask(q), AskedError);
  q = make_question(test::example_inputs());
  q.training.sequence = 1024;
  EXPECT_THROW((void)ask(q), AskedError);
}

TEST(MakeQuestion, ValuesAreEqualWhereTheQuestionIs) {
  const PlanInputs gpt = inputs("gpt2");
  EXPECT_EQ(to_value(make_question(gpt)), to_value(make_question(gpt, asked({{"global-batch", "1,024"}}))));
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"devices", "64"},
                                                        {"sequence", "512"},
                                                        {"optimizer", "sgd"},
                                                        {"tensor", "1"},
                                                        {"for", "megatron"},
                                                        {"gap", "1%"},
                                                        {"work-limit", "5"},
                                                        {"memory-limit", "1 GB"},
                                                        {"time-limit", "5"},
                                                        {"mixed", "on"},
                                                        {"target-tokens-per-s", "5"}})
    EXPECT_NE(to_value(make_question(gpt)), to_value(make_question(gpt, asked({{name, text}})))) << name;
}

}  // namespace
}  // namespace nest::question
