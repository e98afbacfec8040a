#include "nest/report/sweep/sweep_question.hpp"

#include <gtest/gtest.h>

namespace nest::report {
namespace {

PlanQuestion base() {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings);
  return {std::move(inputs), {.global_batch = 64, .sequence = 4096}, {}, {}};
}

std::string refusal(const std::string& field, const std::string& value) {
  try {
    (void)set_fields(base(), {{field, value}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SweepQuestion, SetsPlacesOfTheCluster) {
  const PlanQuestion q = set_fields(base(), {{"devices", "512"}, {"cluster.levels.2.bandwidth", "25GB/s"}});
  EXPECT_DOUBLE_EQ(q.inputs.cluster.levels()[2].bandwidth.value, 25e9);
  EXPECT_EQ(q.inputs.cluster.devices(), 512);
  EXPECT_DOUBLE_EQ(
      set_fields(base(), {{"cluster.levels.spine.latency", "3 us"}}).inputs.cluster.levels()[2].latency.value,
      3e-6);
  const PlanQuestion memory = set_fields(base(), {{"cluster.accelerator.memory", "40GB"}});
  EXPECT_EQ(memory.inputs.cluster.accelerator().memory.value, 40'000'000'000);
}

TEST(SweepQuestion, SetsNamesTrainingChoicesAndRecipes) {
  const PlanQuestion q = set_fields(base(), {{"global_batch", "128"},
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

TEST(SweepQuestion, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("device", "8"), "device=8: there is no field 'device'; did you mean 'devices'?");
  EXPECT_EQ(refusal("devices", "x"), "devices=x: a whole number above 0 is expected");
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
  EXPECT_EQ(refusal("precision", "fp4"), "precision=fp4: bf16, fp16 or fp8 is expected");
}

}  // namespace
}  // namespace nest::report
