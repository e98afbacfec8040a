#include "nest/question/asked.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nest::question {
namespace {

std::string refusal(std::string_view name, std::string_view text) {
  Asked asked;
  try {
    set_asked(asked, name, text);
  } catch (const AskedError& error) {
    EXPECT_EQ(error.impossible(), std::string(error.what()).find("the smallest") != std::string::npos ||
                                      std::string(error.what()).find("the largest") != std::string::npos);
    return error.what();
  }
  return "accepted";
}

// A value of each field that is not its default.
const std::vector<std::pair<std::string, std::string>>& samples() {
  static const std::vector<std::pair<std::string, std::string>> kSamples{
      {"devices", "64"},
      {"global-batch", "512"},
      {"sequence", "2048"},
      {"precision", "fp16"},
      {"optimizer", "sgd"},
      {"train", "lora:8:q_proj+v_proj"},
      {"freeze", "embedding,head"},
      {"frozen-bits", "4"},
      {"mtp", "on"},
      {"micro-batch", "1,2"},
      {"tensor", "2..8"},
      {"sequence-parallel", "off"},
      {"context", "2"},
      {"expert", "4"},
      {"expert-tensor", "1"},
      {"context-method", "all_to_all"},
      {"dispatcher", "alltoall,deepep"},
      {"expert-overlap", "on,off"},
      {"pipeline", "1,2..4"},
      {"data", "8"},
      {"data-inner", "2"},
      {"block-devices", "16"},
      {"zero", "0..3"},
      {"zero-shards", "8"},
      {"uniform", "on"},
      {"first-stage-first", "on,off"},
      {"mixed", "on"},
      {"for", "deepspeed"},
      {"interleave", "2"},
      {"recompute", "none,full:2"},
      {"gradient-dtype", "bf16,fp32"},
      {"reduce-dtype", "fp16"},
      {"optimizer-dtype", "fp32,bf16,fp8"},
      {"master-weights", "off"},
      {"gap", "0.02"},
      {"time-limit", "1.5"},
      {"work-limit", "1000"},
      {"memory-limit", "4000000000 B"},
      {"lengths", "512:900,8192:100"},
      {"images", "0.5"},
      {"image-tokens", "1024"},
      {"schedule", "1f1b,zb-h1"},
      {"offload", "none,activations+optimizer"},
      {"threads", "3"},
      {"without", "beam,dive"},
      {"top", "3"},
      {"objective", "devices"},
      {"runners-up", "2"},
      {"pipeline-model", "paper"},
      {"fits", "0.9"},
      {"memory-margin", "0.08"},
      {"risky", "on"},
      {"strict", "on"},
      {"target-tokens-per-s", "500000"},
      {"price", "h100-sxm=2.5,b200=5"},
      {"power", "1200 W"},
      {"electricity", "0.12"},
      {"mtbf", "180000000 s/device"},
      {"checkpoint-size", "1000 B"},
      {"checkpoint-bandwidth", "2000000000000 B/s/all"},
      {"restart", "600 s"},
      {"repair", "86400 s"}};
  return kSamples;
}

TEST(Asked, EveryFieldIsReadAndSpelled) {
  std::set<std::string> seen;
  Asked all;
  for (const auto& [name, text] : samples()) {
    Asked one;
    set_asked(one, name, text);
    set_asked(all, name, text);
    const Value value = to_value(one);
    ASSERT_EQ(value.as_object()->size(), 1U) << name;  // and touches no other field
    EXPECT_EQ(*value.find(name)->as_string(), text);
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), asked_fields().size());
  EXPECT_EQ(to_value(all).as_object()->size(), asked_fields().size());
  EXPECT_TRUE(to_value(Asked()).as_object()->empty());
}

TEST(Asked, RowsAreWholeAndNamedOnce) {
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const AskedField& field : asked_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(field.key.empty() || keys.insert(field.key).second) << field.key;
    EXPECT_FALSE(field.text.empty()) << field.name;
    EXPECT_EQ(find_asked_field(field.name), &field);
  }
  EXPECT_EQ(find_asked_field("global_batch"), find_asked_field("global-batch"));
  EXPECT_EQ(find_asked_field("global"), nullptr);
}

TEST(Asked, NumbersMayHaveCommas) {
  Asked asked;
  set_asked(asked, "devices", "131,072");
  EXPECT_EQ(asked.devices, 131'072);
  set_asked(asked, "gap", "2%");
  EXPECT_DOUBLE_EQ(asked.gap, 0.02);
  set_asked(asked, "time-limit", "2 min");
  EXPECT_DOUBLE_EQ(asked.time_limit->value, 120);
  set_asked(asked, "memory_limit", "4 GB");
  EXPECT_EQ(asked.memory_limit, Bytes{4'000'000'000});
  set_asked(asked, "target_tokens_per_s", "1,500,000");
  EXPECT_DOUBLE_EQ(*asked.target_tokens_per_s, 1.5e6);
}

TEST(Asked, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("device", "8"), "device: there is no such field; did you mean 'devices'?");
  EXPECT_EQ(refusal("devices", "1.5"), "devices: a whole number is expected, not '1.5'");
  EXPECT_EQ(refusal("devices", "0"), "devices: 0 is less than 1, the smallest value allowed");
  EXPECT_EQ(refusal("top", "1001"), "top: 1,001 is more than 1,000, the largest value allowed");
  EXPECT_EQ(
      refusal("precision", "fp4"),
      "precision: bf16, fp16, fp8, fp8-block, mxfp8 or nvfp4 is expected, not 'fp4'; did you mean 'fp8'?");
  EXPECT_EQ(refusal("for", "megatorn"),
            "for: megatron, torchtitan, deepspeed, accelerate, maxtext, megatron-bridge, verl or ms-swift is "
            "expected, not 'megatorn'; did you mean 'megatron'?");
  EXPECT_EQ(refusal("mixed", "yes"), "mixed: on or off is expected, not 'yes'");
  EXPECT_EQ(refusal("gap", "5x"), "gap: '5x' is not a share; try 5% or 0.05");
  EXPECT_EQ(refusal("gap", "2"), "gap: '2' would be 200 %; write 2% or 0.02");
  EXPECT_EQ(refusal("time-limit", "soon"), "time-limit: 'soon' is not a time; try 60 or '60 s'");
  EXPECT_EQ(refusal("memory-limit", "much"), "memory-limit: 'much' is not a size; try '4 GB'");
  EXPECT_EQ(refusal("target-tokens-per-s", "0"),
            "target-tokens-per-s: '0' is not a number above 0; try 500000 or 5e5");
  EXPECT_EQ(refusal("objective", "fewest"), "objective: step, devices or cost is expected, not 'fewest'");
  EXPECT_EQ(refusal("tensor", "2..x"),
            "tensor: '2..x' is not a number, a list or a range; try 1,2,4 or 2..16");
  EXPECT_NE(refusal("without", "luck").find("there is no pruning 'luck'; the prunings are dominance, "),
            std::string::npos);
}

}  // namespace
}  // namespace nest::question
