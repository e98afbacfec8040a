#include "nest/frameworks/megatron_core/verl.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron_core/test_core_fields.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

class VerlKeys {
 public:
  // What verl v0.7 would say; keys that it hands on to Megatron-core are fields of its dataclasses.
  [[nodiscard]] std::string problem(const std::string& trainer, const test::Settings& settings) const {
    for (const auto& [key, value] : settings) {
      const std::string one = key.starts_with('+') ? added(trainer, key.substr(1), value)
                                                   : keys_.problem("v0.7", trainer + key, value);
      if (!one.empty()) return one;
    }
    return "";
  }
  [[nodiscard]] const test::FieldTable& keys() const { return keys_; }

 private:
  [[nodiscard]] std::string added(const std::string& trainer, const std::string& key,
                                  const std::string& value) const {
    const std::size_t dot = key.rfind('.');
    const std::string parent = trainer + key.substr(0, dot);
    if (keys_.has("v0.7", trainer + key)) return key + " is there and needs no plus";
    // A dictionary of the model's class, with the keys that the other trainer's file has.
    if (parent == "sft:model.lora" && keys_.has("v0.7", parent))
      return keys_.problem("v0.7", "ppo:actor_rollout_ref." + key, value);
    // Empty dictionaries are keys themselves, this one has some.
    if (!keys_.has("v0.7", parent) && !parent.ends_with("override_transformer_config"))
      return parent + " is not known";
    const std::string section = parent.ends_with("transformer_config") ? "model"
                                : parent.ends_with("ddp_config")       ? "ddp"
                                                                       : "optimizer";
    return core_.problem("v0.6", section + key.substr(dot), value);
  }

  test::FieldTable keys_{"verl_keys.csv", "verl"};
  test::FieldTable core_{"megatron_bridge_fields.csv", "megatron-bridge"};
};

TEST(Verl, TheTableHasOurReleases) {
  const test::FieldTable fields("verl_keys.csv", "verl");
  for (const Release& release : find_releases("verl")->releases)
    EXPECT_EQ(fields.days().at(std::string(release.name)), release.released);
}

TEST(Verl, TakesWhatIsWrittenForRandomPlans) {
  const VerlKeys keys;
  test::for_random_questions("verl", 200, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("verl", question);
    ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
    const test::Settings ppo = test::read_settings(out.files.at("ppo_overrides.txt"));
    const test::Settings sft = test::read_settings(out.files.at("sft_overrides.txt"));
    ASSERT_EQ(keys.problem("ppo:", ppo), "") << seed;
    ASSERT_EQ(keys.problem("sft:", sft), "") << seed;
    const std::string actor = "actor_rollout_ref.actor.";
    ASSERT_EQ(test::degrees_problem(
                  ppo, {actor + "megatron.", "+" + actor + "megatron.override_transformer_config.", "null"},
                  question),
              "")
        << seed;
    ASSERT_EQ(
        test::degrees_problem(sft, {"engine.", "+engine.override_transformer_config.", "null"}, question), "")
        << seed;
    const Training& t = question.plan.training;
    EXPECT_EQ(ppo.at(actor + "ppo_mini_batch_size"), std::to_string(t.global_batch));
    EXPECT_EQ(sft.at("data.train_batch_size"), std::to_string(t.global_batch));
    EXPECT_EQ(sft.at("data.max_length"), std::to_string(t.sequence));
    const Parallelism& p = question.plan.parallelism;
    ASSERT_EQ(test::check_placement(out.files, p.strategy.tensor, p.strategy.context, p.pipeline, false), "");
  });
}

ExportQuestion tuned(ExportQuestion question, std::string_view train) {
  EXPECT_EQ(read_train(train, question.plan.training.tuning), "");
  return question;
}

TEST(Verl, TakesAdaptersOfRandomPlans) {
  const VerlKeys keys;
  test::for_random_questions("verl", 100, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out =
        test::exported("verl", tuned(question, seed % 2 == 0 ? "lora:16" : "lora:8:q_proj+o_proj"));
    ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
    const test::Settings ppo = test::read_settings(out.files.at("ppo_overrides.txt"));
    const test::Settings sft = test::read_settings(out.files.at("sft_overrides.txt"));
    ASSERT_EQ(keys.problem("ppo:", ppo), "") << seed;
    ASSERT_EQ(keys.problem("sft:", sft), "") << seed;
    for (const char* key : {"lora.rank", "lora.type", "lora.target_modules"})
      ASSERT_EQ(ppo.at(std::string("actor_rollout_ref.model.") + key), sft.at(std::string("+model.") + key));
    ASSERT_EQ(ppo.at("actor_rollout_ref.actor.megatron.vanilla_mbridge"), "false");
    ASSERT_EQ(sft.at("engine.vanilla_mbridge"), "false");
  });
}

TEST(Verl, AdaptersOfThePlan) {
  test::Planner planner("llama3.1-8b");
  const ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  const auto settings = [&](std::string_view train) {
    return test::read_settings(test::exported("verl", tuned(question, train)).files.at("sft_overrides.txt"));
  };
  EXPECT_EQ(settings("lora:16").at("+model.lora.target_modules"), "[linear_qkv,linear_proj]");
  EXPECT_EQ(settings("lora:16").at("+model.lora.type"), "lora");
  EXPECT_EQ(settings("lora:8:q_proj+v_proj").at("+model.lora.type"), "canonical_lora");
  EXPECT_EQ(settings("lora:8:q_proj+v_proj").at("+model.lora.rank"), "8");
  test::Planner experts("mixtral-8x7b");
  const test::Exported out = test::exported(
      "verl", tuned(experts.question(test::degrees({.expert = 8}, 1, 8)), "lora:16:linear_fc1+linear_fc2"));
  EXPECT_EQ(out.result.rule, "trained-part");
  EXPECT_EQ(out.result.sentence,
            "verl has no key for an adapter beside each expert, and without it Megatron Bridge has one for "
            "all of a rank; deepspeed, megatron-bridge and ms-swift take it");
  EXPECT_TRUE(out.files.empty());
}

TEST(Verl, HasTwoTrainers) {
  test::Planner planner("qwen3-30b-a3b");
  const test::Exported out = test::exported(
      "verl", planner.question(test::degrees({.tensor = 2, .sequence_parallel = true, .expert = 8}, 1, 8)));
  EXPECT_NE(out.files.at("ppo.sh").find("verl.trainer.main_ppo --config-name=ppo_megatron_trainer"),
            std::string::npos);
  EXPECT_NE(out.files.at("verl.sh").find("-m verl.trainer.sft_trainer engine=megatron optim=megatron"),
            std::string::npos);
  EXPECT_NE(out.files.at("verl.sh").find("model=${MODEL_PATH:-Qwen/Qwen3-30B-A3B}"), std::string::npos);
  const test::Settings sft = test::read_settings(out.files.at("sft_overrides.txt"));
  EXPECT_EQ(sft.at("engine.dtype"), "bfloat16");
  EXPECT_EQ(sft.at("optim.optimizer"), "adam");
}

}  // namespace
}  // namespace nest::frameworks
