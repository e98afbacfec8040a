#include "nest/frameworks/accelerate/accelerate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_key_table.hpp"

namespace nest::frameworks {
namespace {

using test::degrees;
using test::exported;
using test::whole;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Accelerate, OneDeviceGetsAScriptThatChecksThePlan) {
  test::Planner planner("llama3.2-1b", "accelerate");
  const test::Exported out = exported("accelerate", planner.question(degrees({}, 1, 1)));
  EXPECT_EQ(out.result.rule, "");
  // 32-bit weights without FSDP: autocast.
  ASSERT_EQ(out.result.lost.size(), 1U);
  EXPECT_THAT(out.result.lost.front(), HasSubstr("torch.autocast"));
  EXPECT_THAT(out.files.at("train_smoke.py"), HasSubstr("import nest_plan"));
  EXPECT_THAT(out.files.at("nest_plan.py"), HasSubstr("nest_plan.json"));
  EXPECT_THAT(out.files.at("model_config.json"), HasSubstr("\"model_type\": \"llama\""));
  EXPECT_THAT(out.files.at("accelerate.yaml"), HasSubstr("distributed_type: \"NO\""));
  EXPECT_FALSE(out.files.contains("ds_config.json"));
}

TEST(Accelerate, ShardsAreFsdp2) {
  test::Planner planner("llama3.2-1b", "accelerate");
  Plan plan = degrees({}, 1, 16);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 8;
  const test::Exported out = exported("accelerate", planner.question(std::move(plan)));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  const Value yaml = parse_yaml("accelerate.yaml", out.files.at("accelerate.yaml")).root;
  EXPECT_EQ(*yaml.find("distributed_type")->as_string(), "FSDP");
  EXPECT_EQ(*yaml.find("mixed_precision")->as_string(), "bf16");
  EXPECT_EQ(whole(*yaml.find("fsdp_config"), "fsdp_version"), 2);
  EXPECT_TRUE(*yaml.find("fsdp_config")->find("fsdp_reshard_after_forward")->as_bool());
  EXPECT_EQ(whole(*yaml.find("parallelism_config"), "parallelism_config_dp_shard_size"), 8);
  EXPECT_EQ(whole(*yaml.find("parallelism_config"), "parallelism_config_dp_replicate_size"), 2);
  EXPECT_EQ(whole(yaml, "num_machines"), 2);
  EXPECT_EQ(*yaml.find("main_process_ip")->as_string(), "node000");
}

TEST(Accelerate, ZeRO1IsDeepSpeed) {
  test::Planner planner("llama3.2-1b", "deepspeed");
  Plan plan = degrees({}, 1, 8);
  plan.parallelism.zero = 1;
  const test::Exported out = exported("accelerate", planner.question(std::move(plan)));
  EXPECT_THAT(out.files.at("accelerate.yaml"), HasSubstr("distributed_type: DEEPSPEED"));
  EXPECT_THAT(out.files.at("ds_config.json"), HasSubstr("\"stage\": 1"));
  EXPECT_THAT(out.files.at("ds_config.json"), Not(HasSubstr("optimizer\"")));
  EXPECT_THAT(out.files.at("accelerate.yaml"), Not(HasSubstr("parallelism_config")));
}

TEST(Accelerate, OtherModelsNeedAScriptOfTheirOwn) {
  test::Planner planner("bert-base", "accelerate");
  Plan plan = degrees({}, 1, 8);
  plan.training.sequence = 512;
  const test::Exported out = exported("accelerate", planner.question(std::move(plan)));
  ASSERT_FALSE(out.result.lost.empty());
  EXPECT_THAT(out.result.lost.front(), HasSubstr("language models only"));
}

TEST(Accelerate, BreachesAreNamed) {
  const std::vector<test::Breach> breaches{
      {"no-pipeline", [](ExportQuestion& q) { q.plan.parallelism.pipeline = 2; }},
      {"gpu-devices",
       [](ExportQuestion& q) {
         Warnings warnings;
         q.inputs = load_inputs("llama3.2-1b", "tpu-v5e-64", "accelerate", warnings);
       }},
      {"batch", [](ExportQuestion& q) { q.plan.training.global_batch = 9; }},
      {"recomputation",
       [](ExportQuestion& q) { q.plan.stages.front().recompute.policy = RecomputePolicy::selective; }},
  };
  for (const test::Breach& breach : breaches) {
    test::Planner planner("llama3.2-1b", "accelerate");
    ExportQuestion question = planner.question(degrees({}, 1, 8));
    breach.make(question);
    const test::Exported out = exported("accelerate", question);
    EXPECT_EQ(out.result.rule, breach.rule) << out.result.sentence;
    EXPECT_TRUE(out.files.empty());
  }
}

TEST(Accelerate, TheTableHasTheReleases) {
  const test::KeyTable table("accelerate");
  for (const Release& release : find_releases("accelerate")->releases)
    EXPECT_EQ(table.days().at(std::string(release.name)), release.released);
}

// Every key and value is known, every plan that the rules allow is written, and the sizes multiply to its ranks.
TEST(Accelerate, RandomPlansAreTakenAndReadBack) {
  const test::KeyTable table("accelerate");
  test::for_random_questions("accelerate", 200, [&](const ExportQuestion& question, unsigned seed) {
    SCOPED_TRACE(seed);
    const test::Exported out = exported("accelerate", question);
    ASSERT_EQ(out.result.rule, "") << out.result.sentence;
    const Value yaml = parse_yaml("accelerate.yaml", out.files.at("accelerate.yaml")).root;
    EXPECT_EQ(table.problem("1.15", yaml), "");
    const Parallelism& p = question.plan.parallelism;
    EXPECT_EQ(whole(yaml, "num_processes"), p.devices());
    const Value plan = parse_json("nest_plan.json", out.files.at("nest_plan.json")).root;
    EXPECT_EQ(whole(plan, "micro_batch") * whole(plan, "gradient_accumulation_steps") * p.data,
              question.plan.training.global_batch);
    if (const Value* mesh = yaml.find("parallelism_config")) {
      const auto size = [&](const std::string& axis) {
        return whole(*mesh, "parallelism_config_" + axis + "_size");
      };
      EXPECT_EQ(size("dp_replicate") * size("dp_shard"), p.data);
      EXPECT_EQ(size("tp"), p.strategy.tensor);
      EXPECT_EQ(size("cp") * size("sp"), p.strategy.context);
      // What ParallelismConfig refuses.
      EXPECT_FALSE(size("cp") > 1 && size("sp") > 1);
      EXPECT_FALSE(size("tp") * size("cp") > 1 && size("dp_replicate") > 1 && size("dp_shard") == 1);
    } else {
      EXPECT_EQ(p.strategy.tensor * p.strategy.context, 1);
    }
    if (const Value* fsdp = yaml.find("fsdp_config")) {
      EXPECT_EQ(*fsdp->find("fsdp_reshard_after_forward")->as_bool(),
                p.zero.shards_parameters() && !p.zero.resharding().keeps());
      EXPECT_TRUE(p.zero.shards_gradients());
    }
  });
}

}  // namespace
}  // namespace nest::frameworks
