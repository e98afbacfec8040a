#include "nest/report/sweep/sweep_question.hpp"

#include <gtest/gtest.h>

namespace nest::report {
namespace {

SweepBase base() {
  Warnings warnings;
  Asked asked;
  asked.global_batch = 64;
  return {load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings), asked};
}

std::string refusal(const std::string& field, const std::string& value, const std::string& framework = "") {
  SweepBase study = base();
  study.asked.framework = framework;
  try {
    (void)question_with(study, {{field, value}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SweepQuestion, SetsPlacesOfTheCluster) {
  const PlanQuestion q =
      question_with(base(), {{"devices", "512"}, {"cluster.levels.2.bandwidth", "25GB/s"}});
  EXPECT_DOUBLE_EQ(q.inputs.cluster.levels()[2].bandwidth.value, 25e9);
  EXPECT_EQ(q.inputs.cluster.devices(), 512);
  EXPECT_DOUBLE_EQ(question_with(base(), {{"cluster.levels.spine.latency", "3 us"}})
                       .inputs.cluster.levels()[2]
                       .latency.value,
                   3e-6);
  const PlanQuestion memory = question_with(base(), {{"cluster.accelerator.memory", "40GB"}});
  EXPECT_EQ(memory.inputs.cluster.accelerator().memory.value, 40'000'000'000);
}

TEST(SweepQuestion, SetsNamesTrainingChoicesAndRecipes) {
  const PlanQuestion q = question_with(base(), {{"global_batch", "128"},
                                                {"tensor", "4"},
                                                {"recipe.overlap.tensor", "0.5"},
                                                {"cluster", "dgx-a100-superpod"},
                                                {"model", "gpt2-xl"}});
  EXPECT_EQ(q.training.global_batch, 128);
  EXPECT_EQ(q.training.sequence, 1024);  // gpt2-xl has no more positions
  EXPECT_EQ(q.space.tensor, Choice(4));
  EXPECT_DOUBLE_EQ(q.inputs.recipe.overlap.tensor, 0.5);
  EXPECT_EQ(q.inputs.cluster.name(), "dgx-a100-superpod");
}

// `--vary cluster=.. --devices 512` used to plan GB200 on all of its 8,192.
TEST(SweepQuestion, DevicesHoldForEveryCluster) {
  SweepBase study = base();
  study.asked.devices = 288;
  study.several_clusters = true;
  for (const char* cluster : {"h100-spine-leaf", "gb200-nvl72"})
    EXPECT_EQ(question_with(study, {{"cluster", cluster}}).inputs.cluster.devices(), 288) << cluster;
  EXPECT_EQ(question_with(study, {{"devices", "64"}}).inputs.cluster.devices(), 64);
  // A cluster that is compared with no other is what `nest plan` asks of: 100 devices are no whole nodes.
  EXPECT_EQ(
      question_with(study, {{"cluster", "h100-spine-leaf"}, {"devices", "100"}}).inputs.cluster.devices(),
      100);
  EXPECT_THROW((void)question_with(base(), {{"cluster", "h100-spine-leaf"}, {"devices", "100"}}), InputError);
}

// `--vary model=.. --sequence 2048` used to forget the sequence.
TEST(SweepQuestion, TheSequenceHoldsForEveryModel) {
  SweepBase study = base();
  study.asked.sequence = 1024;
  for (const char* model : {"llama3.2-1b", "llama2-7b", "gpt2-xl"})
    EXPECT_EQ(question_with(study, {{"model", model}}).training.sequence, 1024) << model;
  study.asked.sequence = 2048;
  EXPECT_THROW((void)question_with(study, {{"model", "gpt2-xl"}}), InputError);
}

// T5 used to be planned with a pipeline that Megatron-LM cannot run, and fp8 on A100 was called optimal.
TEST(SweepQuestion, RefusesAndChangesWhatPlanDoes) {
  SweepBase study = base();
  study.asked.framework = "megatron@core_v0.17";  // the last with T5
  EXPECT_EQ(question_with(study, {{"model", "t5-11b"}}).space.pipeline, Choice(1));
  EXPECT_THROW((void)question_with(study, {{"model", "t5-11b"}, {"pipeline", "4"}}), InputError);
  EXPECT_EQ(refusal("recompute", "selective", "deepspeed"),
            "recompute=selective: DeepSpeed has no recomputation selective");
  study = base();
  study.asked.precision = Precision::fp8;
  EXPECT_THROW((void)question_with(study, {{"cluster", "dgx-a100-superpod"}}), InputError);
  EXPECT_EQ(question_with(study, {{"precision", "bf16"}}).training.precision, Precision::bf16);
}

TEST(SweepQuestion, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("device", "8"), "device=8: there is no field 'device'; did you mean 'devices'?");
  EXPECT_EQ(refusal("devices", "x"), "devices=x: a whole number is expected, not 'x'");
  EXPECT_EQ(
      refusal("cluster.levels.7.bandwidth", "1GB/s"),
      "cluster.levels.7.bandwidth=1GB/s: there is no '7' among 3 entries; their names are node, rack, spine");
  EXPECT_NE(refusal("cluster.levels.0.bandwith", "1GB/s").find("did you mean 'bandwidth'?"),
            std::string::npos);
  EXPECT_NE(refusal("cluster.level.0.bandwidth", "1GB/s").find("did you mean 'levels'?"), std::string::npos);
  EXPECT_NE(refusal("cluster.levels.0.bandwidth", "1GB").find("1GB"), std::string::npos);
  EXPECT_EQ(refusal("model.num_hidden_layers", "3"),
            "model.num_hidden_layers=3: the fields of a model by name are fixed; give --model a config.json "
            "or a layer "
            "profile");
  EXPECT_EQ(refusal("precision", "fp4"),
            "precision=fp4: bf16, fp16, fp8, fp8-block, mxfp8 or nvfp4 is expected, not 'fp4'; did you mean "
            "'fp8'?");
}

}  // namespace
}  // namespace nest::report
