#include "nest/frameworks/common/tuning_words.hpp"

#include <gtest/gtest.h>

namespace nest::frameworks {
namespace {

Tuning tuning_of(std::string_view train, std::string_view freeze = {}, std::string_view bits = "16") {
  Tuning tuning;
  EXPECT_EQ(read_train(train, tuning), "");
  if (!freeze.empty()) {
    EXPECT_EQ(read_freeze(freeze, tuning), "");
  }
  EXPECT_EQ(read_frozen_bits(bits, tuning), "");
  return tuning;
}

std::string refusal(const Tuning& tuning, TuningWords words) {
  return tuning_refusal(tuning, words, "a target").value_or("");
}

TEST(TuningWords, AllOfAModelIsNeverRefused) {
  for (const TuningWords words :
       {TuningWords::none, TuningWords::adapters, TuningWords::packed, TuningWords::core, TuningWords::any})
    EXPECT_EQ(refusal({}, words), "");
}

TEST(TuningWords, WhatATargetCannotSayIsRefused) {
  EXPECT_EQ(refusal(tuning_of("lora:16"), TuningWords::none),
            "a target has no adapters and no flag that freezes some layers, for 'lora:16'");
  EXPECT_EQ(
      refusal(tuning_of("layers 4..", "head"), TuningWords::packed),
      "the export to a target carries adapters beside all blocks, not 'layers 4..' and freezing 'head'");
  EXPECT_EQ(refusal(tuning_of("lora:16:q_proj"), TuningWords::core),
            "a target puts adapters beside Megatron-core's modules, such as linear_qkv, not beside q_proj");
  EXPECT_EQ(refusal(tuning_of("lora:16", "", "4"), TuningWords::core),
            "the export to a target holds frozen weights in 16 bits, not in 4");
  EXPECT_EQ(refusal(tuning_of("lora:16:q_proj", "", "8"), TuningWords::adapters),
            "the export to a target holds frozen weights in 16 bits, not in 8");
  EXPECT_EQ(refusal(tuning_of("lora:16:q_proj", "embedding"), TuningWords::adapters), "");
  EXPECT_EQ(refusal(tuning_of("lora:16", "embedding,head", "4"), TuningWords::packed), "");
  EXPECT_EQ(refusal(tuning_of("layers 4.."), TuningWords::any), "");
}

TEST(TuningWords, PeftNamesSingleModules) {
  EXPECT_EQ(
      to_json_line(peft_config(tuning_of("lora:16"))),
      R"({"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 16, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]})");
  EXPECT_EQ(
      to_json_line(peft_config(tuning_of("lora:8:q_proj+linear_qkv"))),
      R"({"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8, "target_modules": ["q_proj", "k_proj", "v_proj"]})");
  EXPECT_EQ(to_json_line(peft_config(tuning_of("lora:8:all-linear"))),
            R"({"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8, "target_modules": "all-linear"})");
  EXPECT_EQ(peft_remarks(tuning_of("lora:8", "", "4")).size(), 2U);
  EXPECT_TRUE(peft_remarks({}).empty());
}

}  // namespace
}  // namespace nest::frameworks
