#include "nest/frameworks/megatron_core/bridge.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron_core/test_core_fields.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

// With recipes and without: windows, gates, latent attention, learned positions, routers.
const std::vector<const char*> kModels{"llama3.2-1b", "gpt2-xl",    "mixtral-8x7b", "deepseek-v2-lite",
                                       "qwen2.5-7b",  "gemma2-9b",  "mistral-7b",   "phi-2",
                                       "pythia-410m", "qwen3-0.6b", "opt-1.3b",     "qwen1.5-moe-a2.7b"};

test::FieldTable table() {
  return {"megatron_bridge_fields.csv", "megatron-bridge"};
}

test::Exported exported(const std::string& model, const Plan& plan) {
  test::Planner planner(model);
  return test::exported("megatron-bridge", planner.question(plan));
}

TEST(Bridge, TheTableHasOurReleases) {
  const test::FieldTable fields = table();
  for (const Release& release : find_releases("megatron-bridge")->releases)
    EXPECT_EQ(fields.days().at(std::string(release.name)), release.released);
  EXPECT_EQ(fields.days().size(), find_releases("megatron-bridge")->releases.size());
}

TEST(Bridge, TheTableSeesWhatIsWrong) {
  const test::FieldTable fields = table();
  const auto problem = [&](const char* key, const char* value) { return fields.problem("v0.6", key, value); };
  EXPECT_EQ(problem("model.num_layers", "4"), "");
  EXPECT_EQ(problem("model.num_layer", "4"), "model.num_layer is not known");
  EXPECT_EQ(problem("model.num_layers", "four"), "model.num_layers does not take four");
  EXPECT_EQ(problem("model.tensor_model_parallel_size", "null"),
            "model.tensor_model_parallel_size does not take null");
  EXPECT_EQ(problem("model.pipeline_model_parallel_layout", "Et|tL"), "");
  EXPECT_EQ(problem("model.pipeline_model_parallel_layout", "E(t|)*2L"),
            "model.pipeline_model_parallel_layout does not take E(t|)*2L");
  EXPECT_EQ(problem("model.recompute_granularity", "none"), "model.recompute_granularity does not take none");
  EXPECT_EQ(problem("mixed_precision", "bf16"), "mixed_precision does not take bf16");
}

// None that the rules allow is refused; every field and value is known, those of the smoke run included; and the
// degrees read back are the plan's.
TEST(Bridge, TakesWhatIsWrittenForRandomPlans) {
  const test::FieldTable fields = table();
  int layouts = 0;
  test::for_random_questions(
      "megatron-bridge", 200,
      [&](const ExportQuestion& question, unsigned seed) {
        const test::Exported out = test::exported("megatron-bridge", question);
        ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
        const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
        ASSERT_EQ(fields.problem("v0.6", settings), "") << seed;
        ASSERT_EQ(test::degrees_problem(settings, {"model.", "model.", "null"}, question), "") << seed;
        const Training& t = question.plan.training;
        EXPECT_EQ(settings.at("train.global_batch_size"), std::to_string(t.global_batch));
        EXPECT_EQ(settings.at("train.micro_batch_size"), std::to_string(t.micro_batch));
        EXPECT_EQ(settings.at("dataset.seq_length"), std::to_string(t.sequence));
        EXPECT_EQ(settings.at("ddp.use_megatron_fsdp"),
                  question.plan.parallelism.zero.shards_gradients() ? "true" : "false");
        layouts += settings.at("model.pipeline_model_parallel_layout") != "null" ? 1 : 0;
        const std::string& script = out.files.at("bridge.sh");
        for (const char* variable : {"DATA_ARGS", "TRAIN_ARGS"}) {
          for (const std::string& word : test::split(test::default_of(script, variable), ' ')) {
            const std::size_t equals = word.find('=');
            const std::string key = word.substr(0, equals);
            // The annotation of these texts has no null, their default has.
            if (word.ends_with("=null") && fields.has("v0.6", key)) continue;
            ASSERT_EQ(fields.problem("v0.6", key, word.substr(equals + 1)), "") << seed;
          }
        }
        const bool mapped = settings.at("dist.use_tp_pp_dp_mapping") == "true";
        const Parallelism& p = question.plan.parallelism;
        ASSERT_EQ(test::check_placement(out.files, p.strategy.tensor, p.strategy.context, p.pipeline, mapped),
                  "")
            << seed;
      },
      kModels);
  EXPECT_GT(layouts, 40);
}

ExportQuestion tuned(ExportQuestion question, std::string_view train, std::string_view bits = "16") {
  EXPECT_EQ(read_train(train, question.plan.training.tuning), "");
  EXPECT_EQ(read_frozen_bits(bits, question.plan.training.tuning), "");
  return question;
}

// "    dim=16," of the call that makes the adapters, with Python's words for what the table calls true and false.
test::Settings python_arguments(const std::string& script) {
  test::Settings out;
  for (const std::string& line : test::split(script, '\n')) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with("        ") || !line.ends_with(',') || equals == std::string::npos) continue;
    const std::string value = line.substr(equals + 1, line.size() - equals - 2);
    out[line.substr(8, equals - 8)] = value == "False" ? "false" : value;
  }
  return out;
}

// Of Bridge's classes of adapters, and of the data that recipes with adapters have.
TEST(Bridge, TakesAdaptersOfRandomPlans) {
  const test::FieldTable fields = table();
  int canonical = 0;
  int whole = 0;
  test::for_random_questions("megatron-bridge", 100, [&](const ExportQuestion& question, unsigned seed) {
    const char* train = seed % 3 == 0   ? "lora:16"
                        : seed % 3 == 1 ? "lora:8:linear_proj+linear_fc2"
                                        : "lora:64:q_proj";
    const test::Exported out = test::exported("megatron-bridge", tuned(question, train));
    ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
    const std::string& script = out.files.at("bridge_adapters.py");
    const bool parts = script.find("CanonicalLoRA(") != std::string::npos;
    (parts ? canonical : whole) += 1;
    for (const auto& [key, value] : python_arguments(script)) {
      const std::string field = (parts ? "adapters.canonical_lora." : "adapters.lora.") + key;
      ASSERT_TRUE(fields.has("v0.6", field)) << field;
      if (value.starts_with("config.peft.")) {
        ASSERT_TRUE(fields.has("v0.6", "adapters.lora." + value.substr(12))) << value;
      } else {
        ASSERT_EQ(fields.problem("v0.6", field, value), "") << seed;
      }
    }
    const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
    for (const auto& [key, value] : settings) {
      // The section of packing is switched off as a whole.
      const bool data = key.starts_with("dataset.");
      if (value == "null" && data) continue;
      ASSERT_EQ(fields.problem("v0.6", data ? "adapters." + key : key, value), "") << seed;
    }
    ASSERT_EQ(test::degrees_problem(settings, {"model.", "model.", "null"}, question), "") << seed;
    ASSERT_EQ(settings.contains("dataset.enable_offline_packing"), question.plan.training.micro_batch > 1);
    ASSERT_EQ(settings.contains("model.num_layers"), false);
  });
  EXPECT_GT(canonical, 10);
  EXPECT_GT(whole, 10);
}

TEST(Bridge, StartsTheRecipeWithAdapters) {
  test::Planner planner("llama3.1-70b");
  const ExportQuestion question =
      planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 4, 2));
  const test::Exported out = test::exported("megatron-bridge", tuned(question, "lora:16"));
  const std::string& shell = out.files.at("bridge.sh");
  EXPECT_NE(shell.find("recipe=${BRIDGE_RECIPE:-llama31_70b_peft_config}\n"), std::string::npos);
  EXPECT_NE(shell.find("exec \"$@\" \"$here/bridge_adapters.py\" --recipe \"$recipe\" --mode lora "
                       "\"checkpoint.pretrained_checkpoint=${PRETRAINED_CHECKPOINT:?"),
            std::string::npos);
  const test::Settings arguments = python_arguments(out.files.at("bridge_adapters.py"));
  EXPECT_EQ(arguments.at("target_modules"), "[\"linear_qkv\", \"linear_proj\"]");
  EXPECT_EQ(arguments.at("dim"), "16");
  EXPECT_EQ(arguments.at("share_expert_adapters"), "false");
  EXPECT_TRUE(out.result.lost.empty());
  EXPECT_TRUE(out.result.next.front().starts_with("PRETRAINED_CHECKPOINT=.. BRIDGE_PATH=.. ./run_host.sh"));
  EXPECT_FALSE(exported("llama3.1-70b", question.plan).files.contains("bridge_adapters.py"));
}

TEST(Bridge, RefusesWhatItsAdaptersAreNot) {
  test::Planner planner("llama3.1-8b");
  const ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  const auto refusal = [&](std::string_view train, std::string_view bits = "16") {
    const test::Exported out = test::exported("megatron-bridge", tuned(question, train, bits));
    EXPECT_EQ(out.result.rule, "trained-part");
    EXPECT_TRUE(out.files.empty());
    return out.result.sentence;
  };
  EXPECT_EQ(refusal("lora:16", "4"),
            "the export to Megatron Bridge holds frozen weights in 16 bits, not in 4; deepspeed and "
            "accelerate take it");
  EXPECT_EQ(refusal("layers 24.."),
            "the export to Megatron Bridge carries adapters beside all blocks, not 'layers 24..'; chakra, "
            "slurm, kubernetes and placement take it");
  EXPECT_EQ(refusal("lora:16:qkv"),
            "Megatron Bridge puts adapters beside Megatron-core's modules, such as linear_qkv, not beside "
            "qkv; deepspeed and accelerate take it");
  test::Planner latent("deepseek-v3");
  const test::Exported unknown = test::exported(
      "megatron-bridge", tuned(latent.question(test::degrees({.expert = 8}, 16, 8, 32)), "lora:16"));
  EXPECT_EQ(unknown.result.lost.front(),
            "the model: Megatron Bridge has no recipe with adapters for it; BRIDGE_RECIPE names yours");
}

TEST(Bridge, StartsTheRecipeOfTheModel) {
  const test::Exported out =
      exported("llama3.1-70b", test::degrees({.tensor = 8, .sequence_parallel = true}, 4, 2));
  EXPECT_NE(out.files.at("bridge.sh").find("recipe=${BRIDGE_RECIPE:-llama31_70b_pretrain_config}\n"),
            std::string::npos);
  EXPECT_NE(out.files.at("bridge.sh").find("CUDA_DEVICE_MAX_CONNECTIONS=1 "), std::string::npos);
  EXPECT_NE(out.files.at("NOTES.md").find("meta-llama/Meta-Llama-3.1-70B"), std::string::npos);
  EXPECT_EQ(out.files.at("overrides.txt").find("model.num_layers="), std::string::npos);
  EXPECT_TRUE(out.result.lost.empty());
}

TEST(Bridge, DescribesAModelWithoutARecipe) {
  const test::Exported out = exported("mixtral-8x7b", test::degrees({.expert = 8}, 2, 8));
  const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
  EXPECT_EQ(settings.at("model.num_layers"), "32");
  EXPECT_EQ(settings.at("model.activation_func"), "silu");
  EXPECT_EQ(settings.at("model.gated_linear_unit"), "true");
  EXPECT_EQ(settings.at("model.add_bias_linear"), "false");
  EXPECT_EQ(settings.at("model.num_moe_experts"), "8");
  EXPECT_NE(out.files.at("bridge.sh").find(":-vanilla_gpt_pretrain_config}"), std::string::npos);
  EXPECT_EQ(out.result.lost.front(),
            "the recipe: Megatron Bridge has none for this model, so the overrides make "
            "vanilla_gpt_pretrain_config this model");
}

// Recipes have values of their own: what the plan does not use is switched off.
TEST(Bridge, SwitchesOffWhatThePlanDoesNotUse) {
  const test::Exported out = exported("deepseek-v3", test::degrees({.expert = 8}, 16, 8, 32));
  const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
  for (const char* key : {"model.mtp_num_layers", "model.recompute_granularity", "comm_overlap",
                          "model.virtual_pipeline_model_parallel_size"})
    EXPECT_EQ(settings.at(key), "null") << key;
  EXPECT_EQ(settings.at("optimizer.use_precision_aware_optimizer"), "false");
  EXPECT_EQ(settings.at("model.moe_shared_expert_overlap"), "false");
  EXPECT_EQ(out.result.lost,
            std::vector<std::string>{"multi-token prediction modules are not part of the plan"});
}

TEST(Bridge, ModulesForMultiTokenPrediction) {
  Plan plan = test::degrees({.expert = 8}, 16, 8, 32);
  plan.training.mtp = true;
  const test::Exported out = exported("deepseek-v3", plan);
  const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
  EXPECT_EQ(settings.at("model.mtp_num_layers"), "1");
  EXPECT_TRUE(settings.at("model.pipeline_model_parallel_layout").ends_with("mL'"));
  EXPECT_TRUE(out.result.lost.empty());
}

TEST(Bridge, ShardsWithMegatronFsdp) {
  Plan plan = test::degrees({}, 1, 8);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 4;
  const test::Exported out = exported("llama3.1-8b", plan);
  const test::Settings settings = test::read_settings(out.files.at("overrides.txt"));
  EXPECT_EQ(settings.at("ddp.data_parallel_sharding_strategy"), "optim_grads_params");
  EXPECT_EQ(settings.at("ddp.num_distributed_optimizer_instances"), "2");
  EXPECT_EQ(settings.at("checkpoint.ckpt_format"), "fsdp_dtensor");
  EXPECT_EQ(settings.at("dist.use_megatron_fsdp"), "true");
  EXPECT_NE(out.files.at("bridge.sh").find("CUDA_DEVICE_MAX_CONNECTIONS=8 "), std::string::npos);
}

TEST(Bridge, SaysInWhichBitsGradientsAreReduced) {
  test::Planner planner("llama3.1-8b", "deepspeed");
  const test::Exported out = test::exported("megatron-bridge", planner.question(test::degrees({}, 1, 8)));
  EXPECT_NE(std::find(out.result.lost.begin(), out.result.lost.end(),
                      "gradients are reduced in 32 bits, as Bridge's bf16_mixed has it"),
            out.result.lost.end());
}

TEST(Bridge, RefusesWhatMegatronRefuses) {
  Plan plan = test::degrees({.tensor = 2}, 2, 2);
  plan.parallelism.schedule = Schedule::gpipe;
  const test::Exported out = exported("llama3.1-8b", plan);
  EXPECT_EQ(out.result.rule, "schedule");
  EXPECT_EQ(out.result.sentence, "Megatron Bridge has no schedule gpipe");
  EXPECT_TRUE(out.files.empty());
}

}  // namespace
}  // namespace nest::frameworks
