#include "nest/model/hub/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nest/base/document/csv.hpp"
#include "nest/base/files.hpp"
#include "nest/model/blocks/detail_numbers.hpp"
#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

// Its default has heads of 73, which nobody can rotate; it is refused.
constexpr std::string_view kRefused = "qwen3_omni_moe_thinker";

// The default model of each class, as Transformers 5.17 builds it: a config of its type and class alone.
TEST(Family, CountsOfTheDefaultModelsAreThoseOfTransformers) {
  const CsvTable table("family_counts.csv", read_file(NEST_SOURCE_DIR "/tests/data/family_counts.csv"));
  std::size_t seen = 0;
  for (const CsvRow& row : table.rows()) {
    const std::string type = row.text("model_type");
    if (type == kRefused) continue;
    const std::string json =
        R"({"model_type": ")" + type + R"(", "architectures": [")" + row.text("architecture") + R"("]})";
    EXPECT_EQ(count_or_message(json), row.text("parameters")) << json;
    ++seen;
  }
  EXPECT_EQ(seen, 302U);
}

// Files that state a few keys alone: other depths, widths, numbers of experts, switches.
TEST(Family, OtherSizesThanTheDefaultsCountTheSame) {
  std::ifstream in(NEST_SOURCE_DIR "/tests/data/family_variants.jsonl");
  std::size_t seen = 0;
  for (std::string line; std::getline(in, line); ++seen) {
    const Document row = parse_json("family_variants.jsonl", line);
    Value config = *row.root.find("keys");
    config.set("model_type", *row.root.find("model_type"));
    config.set("architectures", Value::array().push(*row.root.find("architecture")));
    EXPECT_EQ(count_or_message(to_json_line(config)), std::to_string(*row.root.find("parameters")->as_int()))
        << line;
  }
  EXPECT_GT(seen, 500U);
}

// The whole configurations of the shared table: stated keys, and those that no shape depends on.
TEST(Family, WholeConfigurationsCountTheSame) {
  const char* folder = std::getenv("NEST_SHARED");
  const std::filesystem::path file =
      std::filesystem::path(folder != nullptr ? folder : "../shared") / "models/hub_counts.jsonl";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "SKIPPED: there is no " << file;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Document row = parse_json("hub_counts.jsonl", line);
    if (*row.root.find("model_type")->as_string() == kRefused) continue;
    EXPECT_EQ(count_or_message(to_json_line(*row.root.find("config"))),
              std::to_string(*row.root.find("parameters")->as_int()))
        << *row.root.find("model_type")->as_string() << ", " << *row.root.find("group")->as_string();
  }
}

TEST(Family, LayersFollowTheirPattern) {
  const auto windows = [](const std::string& json) {
    const ModelSpec spec = spec_of(json);
    std::vector<std::int64_t> out;
    for (const BlockSpec& b : spec.stacks[0].blocks) out.push_back(b.attention.window);
    return out;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(windows(R"({"model_type": "gpt_oss", "num_hidden_layers": 4})"), ElementsAre(128, 0, 128, 0));
  EXPECT_THAT(windows(R"({"model_type": "olmo3", "num_hidden_layers": 5, "sliding_window": 64})"),
              ElementsAre(64, 64, 64, 0, 64));
  EXPECT_THAT(windows(R"({"model_type": "olmo3", "num_hidden_layers": 2, "sliding_window": 64,
                          "layer_types": ["full_attention", "sliding_attention"]})"),
              ElementsAre(0, 64));
}

TEST(Family, PartsOfAModel) {
  const ModelSpec oss = spec_of(R"({"model_type": "gpt_oss"})");
  const BlockSpec& block = oss.stacks[0].blocks[0];
  EXPECT_TRUE(block.attention.sinks);
  ASSERT_TRUE(block.experts);
  EXPECT_TRUE(block.experts->expert_bias);
  EXPECT_EQ(block.experts->experts, 128);
  EXPECT_EQ(block.experts->top_k, 4);
  EXPECT_TRUE(oss.details.special.empty());
  EXPECT_EQ(number_of(oss.details, "activation_limit"), 7);
  EXPECT_EQ(oss.details.norm_epsilon, 1e-5);
  EXPECT_EQ(spec_of(R"({"model_type": "olmo2"})").stacks[0].blocks[0].layout, NormLayout::post_branch);
  EXPECT_EQ(class_prefix_of("gpt_oss"), "GptOss");
  EXPECT_FALSE(described_by_data("decoder")) << "what others are like is no type";
  EXPECT_EQ(spec_of(R"({"architectures": ["GraniteForCausalLM"]})").family, "granite");
}

TEST(Family, MistakesNameTheKey) {
  EXPECT_EQ(config_message("{\"model_type\": \"granite\",\n\"hidden_size\": -4}"),
            "config.json: line 2, hidden_size: -4 is outside 1 to 10000000 for hidden");
  EXPECT_EQ(config_message(R"({"model_type": "granite", "hidden_size": "big"})"),
            "config.json: line 1, hidden_size: expected a whole number for hidden, found a text");
  EXPECT_EQ(config_message(R"({"model_type": "granite", "num_attention_heads": 30})"),
            "config.json: line 1, num_attention_heads: 4096 is not a multiple of 30");
  EXPECT_EQ(config_message(R"({"model_type": "granite", "hidden_act": "mish"})"),
            "config.json: line 1, hidden_act: the activation 'mish' is not known");
  EXPECT_EQ(config_message(R"({"model_type": "qwen2_audio", "text_config": {"model_type": 2}})"),
            "config.json: line 1, text_config.model_type: nothing says of which type the part layer is");
  EXPECT_EQ(config_message(R"({"model_type": "gpt_oss", "num_experts_per_tok": 300})"),
            "config.json: line 1, num_experts_per_tok: a token cannot use 300 of 128 experts");
}

}  // namespace
}  // namespace nest::model
