#include "nest/frameworks/accelerate/accelerate_settings.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

using test::degrees;

struct Settings {
  explicit Settings(ExportQuestion made)
      : question(std::move(made)), facts(export_facts(question, "accelerate")) {}
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  ExportQuestion question;
  ExportFacts facts;
};

TEST(AccelerateSettings, OneDeviceNeedsNoMesh) {
  test::Planner planner("llama3.2-1b", "accelerate");
  const Settings made(planner.question(degrees({}, 1, 1)));
  EXPECT_EQ(mesh_of(made.facts).way, AccelerateWay::one_device);
  const Value plan = accelerate_plan(made.facts);
  EXPECT_EQ(*plan.find("distributed_type")->as_string(), "NO");
  EXPECT_EQ(plan.find("parallelism"), nullptr);
  EXPECT_EQ(*plan.find("gradient_accumulation_steps")->as_int(), 8);
}

// The product of the sizes is the number of ranks: 2 copies of 2 shards, each over 2 context ranks.
TEST(AccelerateSettings, ShardsAreOfDataAndContextRanks) {
  test::Planner planner("llama3.2-1b", "accelerate");
  Plan plan = degrees({.tensor = 2, .context = 2}, 1, 4);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 4;
  const Settings made(planner.question(std::move(plan)));
  const AccelerateMesh mesh = mesh_of(made.facts);
  EXPECT_EQ(mesh.way, AccelerateWay::fsdp);
  EXPECT_EQ(mesh.replicate, 2);
  EXPECT_EQ(mesh.shard, 2);
  EXPECT_EQ(mesh.context, 2);
  EXPECT_EQ(mesh.tensor, 2);
}

// A recipe without a 32-bit copy holds and computes 16 bits; with one, the 32 bits are what is held.
TEST(AccelerateSettings, WeightsAreAsTheRecipeSays) {
  test::Planner planner("llama3.2-1b", "accelerate");
  Settings made(planner.question(degrees({}, 1, 1)));
  EXPECT_EQ(held_weights(made.facts), StateDType::fp32);
  EXPECT_EQ(mixed_precision(made.facts), "bf16");
  made.question.inputs.recipe = named_recipe("plain");
  EXPECT_EQ(held_weights(made.facts), StateDType::bf16);
  EXPECT_EQ(mixed_precision(made.facts), "no");
  made.question.inputs.recipe = named_recipe("megatron");
  EXPECT_EQ(held_weights(made.facts), StateDType::fp32);
  made.question.plan.training.precision = Precision::fp8;
  EXPECT_EQ(mixed_precision(made.facts), "fp8");
}

}  // namespace
}  // namespace nest::frameworks
