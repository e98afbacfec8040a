#include "nest/frameworks/megatron_core/core_knobs.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

std::map<std::string, std::string> in(CoreDialect dialect, std::string_view flags) {
  std::map<std::string, std::string> out;
  for (const Setting& setting : translate(read_flags(flags), dialect).settings)
    EXPECT_TRUE(out.emplace(setting.key, setting.value).second) << setting.key;
  return out;
}

TEST(CoreKnobs, TranslateValues) {
  const auto bridge = in(CoreDialect::bridge,
                         "--tensor-model-parallel-size 8 --sequence-parallel --grad-reduce-in-bf16 "
                         "--recompute-modules core_attn --window-size 4095,0 --moe-layer-freq ([0]*2+[1]*3) "
                         "--megatron-fsdp-main-grads-dtype fp32 --swiglu");
  EXPECT_EQ(bridge.at("model.tensor_model_parallel_size"), "8");
  EXPECT_EQ(bridge.at("model.sequence_parallel"), "true");
  EXPECT_EQ(bridge.at("ddp.grad_reduce_in_fp32"), "false");
  EXPECT_EQ(bridge.at("model.recompute_modules"), "[core_attn]");
  EXPECT_EQ(bridge.at("model.window_size"), "[4095,0]");
  EXPECT_EQ(bridge.at("model.moe_layer_freq"), "[0,0,1,1,1]");
  EXPECT_EQ(bridge.at("ddp.megatron_fsdp_main_grads_dtype"),
            "{_target_:megatron.bridge.utils.activation_map.str_to_dtype,name:fp32}");
  EXPECT_EQ(bridge.at("model.activation_func"), "silu");
}

// Signs that Hydra would read otherwise stand between quotes; arguments need none.
TEST(CoreKnobs, QuoteLayouts) {
  const std::string_view flags = "--pipeline-model-parallel-layout Et|(tt|)*2,tL";
  EXPECT_EQ(in(CoreDialect::bridge, flags).at("model.pipeline_model_parallel_layout"), "'Et|(tt|)*2,tL'");
  EXPECT_EQ(in(CoreDialect::ms_swift, flags).at("pipeline_model_parallel_layout"), "Et|(tt|)*2,tL");
}

TEST(CoreKnobs, SayWhatIsAbsentWhereDefaultsDiffer) {
  EXPECT_EQ(in(CoreDialect::bridge, "").at("model.recompute_granularity"), "null");
  EXPECT_EQ(in(CoreDialect::ms_swift, "").at("recompute_granularity"), "none");
  EXPECT_EQ(in(CoreDialect::verl, "").at("megatron.sequence_parallel"), "false");
  EXPECT_FALSE(in(CoreDialect::ms_swift, "").contains("pipeline_model_parallel_layout"));
}

// A later knob with the same key outranks an earlier one.
TEST(CoreKnobs, OutrankEachOther) {
  EXPECT_EQ(in(CoreDialect::bridge, "--bf16").at("mixed_precision"), "bf16_mixed");
  EXPECT_EQ(in(CoreDialect::bridge, "--bf16 --fp8-format hybrid").at("mixed_precision"),
            "bf16_with_fp8_delayed_scaling_mixed");
  const auto chunks = in(CoreDialect::bridge, "--num-virtual-stages-per-pipeline-rank 2");
  EXPECT_EQ(chunks.at("model.overlap_p2p_comm"), "true");
  EXPECT_EQ(chunks.at("model.batch_p2p_comm"), "false");
  const auto without =
      in(CoreDialect::bridge, "--num-virtual-stages-per-pipeline-rank 2 --no-overlap-p2p-communication");
  EXPECT_EQ(without.at("model.overlap_p2p_comm"), "false");
  EXPECT_EQ(without.at("model.batch_p2p_comm"), "true");
}

TEST(CoreKnobs, NameWhatHasNoWord) {
  const std::vector<Flag> flags =
      read_flags("--bf16 --num-distributed-optimizer-instances 2 --fp8-format e4m3");
  EXPECT_TRUE(unknown_losses(translate(flags, CoreDialect::bridge), "field").empty());
  EXPECT_EQ(unknown_losses(translate(flags, CoreDialect::ms_swift), "argument in ms-swift"),
            std::vector<std::string>{
                "Megatron-LM's --num-distributed-optimizer-instances 2 has no argument in ms-swift"});
}

// Megatron-LM reads the number of chunks from a layout, the others want it.
TEST(CoreKnobs, FlagsHaveChunksBesideALayout) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 3, 2, 6);
  plan.parallelism.schedule = Schedule::interleaved;
  plan.parallelism.interleave = 2;
  const ExportQuestion question = planner.question(plan);
  const ExportFacts facts = export_facts(question, "megatron-bridge");
  std::vector<std::string> lost;
  const std::vector<Flag> flags =
      core_flags(facts, {"core_v0.19", RankOrder::data_before_stage, false}, lost);
  EXPECT_NE(find_flag(flags, "--pipeline-model-parallel-layout"), nullptr);
  ASSERT_NE(find_flag(flags, "--num-virtual-stages-per-pipeline-rank"), nullptr);
  EXPECT_EQ(find_flag(flags, "--num-virtual-stages-per-pipeline-rank")->values.front(), "2");
  EXPECT_EQ(find_flag(flags, "--num-layers"), nullptr);
  EXPECT_NE(
      find_flag(core_flags(facts, {"core_v0.19", RankOrder::data_before_stage, true}, lost), "--num-layers"),
      nullptr);
}

}  // namespace
}  // namespace nest::frameworks
