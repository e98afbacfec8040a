#include "nest/model/hub/unread_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> unread(const std::string& json) {
  return spec_of(json).details.unread;
}

TEST(UnreadKeys, AreNamedWithTheirValues) {
  EXPECT_THAT(unread(R"({"model_type": "llama", "embedding_multiplier": 12.5, "rope_magic": "high",
                         "per_layer": [1, 2], "rms_norm_eps": 1e-5})"),
              ElementsAre("embedding_multiplier 12.5", "rope_magic \"high\"", "per_layer"));
  EXPECT_THAT(unread(R"({"model_type": "granite", "embedding_multiplier": 12.5, "lost_multiplier": 3})"),
              ElementsAre("lost_multiplier 3"));
}

// What is off, and what another model would not be trained by.
TEST(UnreadKeys, PassOverWhatChangesNothing) {
  EXPECT_THAT(
      unread(R"({"model_type": "llama", "a_multiplier": 1.0, "b": null, "c": false, "d": 0, "e": [], "f": "",
                         "bos_token_id": 1, "attention_dropout": 0.1, "initializer_range": 0.02, "use_cache": true,
                         "transformers_version": "5", "torch_dtype": "bfloat16"})"),
      IsEmpty());
  // A key that the family reads for other values.
  EXPECT_THAT(unread(R"({"model_type": "qwen2", "use_sliding_window": false, "max_window_layers": 28})"),
              IsEmpty());
  EXPECT_THAT(
      unread(R"({"model_type": "gemma3_text", "layer_types": ["full_attention"], "num_hidden_layers": 1,
                         "sliding_window_pattern": 6})"),
      IsEmpty());
}

// A part of a config that holds parts, and what stands beside them.
TEST(UnreadKeys, OfParts) {
  EXPECT_THAT(
      unread(
          R"({"model_type": "gemma3", "around": 4, "text_config": {"model_type": "gemma3_text", "deep": 5}})"),
      ElementsAre("deep 5", "around 4"));
}

}  // namespace
}  // namespace nest::model
