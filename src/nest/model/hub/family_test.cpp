#include "nest/model/hub/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

struct Counted {
  const char* type;
  std::int64_t parameters;
};

// The default model of each class, as Transformers 5.17 builds it.
constexpr std::array<Counted, 47> kCounts{{
    {"arcee", 4'022'766'080},
    {"biogpt", 346'763'264},
    {"bloom", 16'156'544},
    {"codegen", 6'050'882'784},
    {"cohere", 34'980'831'232},
    {"cohere2", 34'980'831'232},
    {"cwm", 32'581'097'472},
    {"ernie4_5", 360'748'032},
    {"ernie4_5_moe", 21'825'437'888},
    {"exaone4", 9'429'069'824},
    {"exaone_moe", 28'550'639'616},
    {"falcon", 6'921'720'704},
    {"flex_olmo", 33'270'665'216},
    {"gemma3_text", 2'628'658'432},
    {"glm", 9'399'951'360},
    {"glm4", 9'400'279'040},
    {"glm4_moe", 103'481'200'640},
    {"glm4_moe_lite", 29'943'390'976},
    {"gpt_bigcode", 111'446'784},
    {"gpt_neo", 1'315'575'808},
    {"gpt_oss", 116'829'156'672},
    {"gptj", 6'050'882'784},
    {"granite", 6'738'415'616},
    {"granitemoe", 37'039'116'288},
    {"granitemoeshared", 37'039'116'288},
    {"helium", 2'172'643'840},
    {"hy_v3", 295'033'528'320},
    {"hyperclovax", 6'738'677'760},
    {"jais2", 8'090'401'280},
    {"minimax_m2", 228'689'748'992},
    {"ministral3", 8'489'553'920},
    {"mpt", 1'311'213'568},
    {"nanochat", 256'573'440},
    {"olmo", 6'888'095'744},
    {"olmo2", 6'888'624'128},
    {"olmo3", 6'888'624'128},
    {"olmoe", 13'361'612'800},
    {"persimmon", 9'397'175'296},
    {"phimoe", 41'872'793'600},
    {"seed_oss", 28'921'040'896},
    {"smollm3", 3'075'098'624},
    {"solar_open", 102'651'793'408},
    {"stablelm", 2'795'443'200},
    {"starcoder2", 3'030'371'328},
    {"vaultgemma", 2'614'222'080},
    {"xglm", 564'463'616},
    {"youtu", 1'961'560'064},
}};

TEST(Family, CountsOfTheDefaultModelsAreThoseOfTransformers) {
  std::vector<std::string> counted;
  for (const Counted& row : kCounts) {
    counted.emplace_back(row.type);
    EXPECT_EQ(parameters_of("{\"model_type\": \"" + counted.back() + "\"}"), row.parameters) << row.type;
  }
  EXPECT_EQ(types_of_data(), counted) << "every file of data/families has a row here";
}

// The whole configurations of the shared table: stated keys, and those that no shape depends on.
TEST(Family, WholeConfigurationsCountTheSame) {
  const char* folder = std::getenv("NEST_SHARED");
  const std::filesystem::path file =
      std::filesystem::path(folder != nullptr ? folder : "../shared") / "models/hub_counts.jsonl";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "SKIPPED: there is no " << file;
  std::ifstream in(file);
  std::size_t seen = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("Infinity") != std::string::npos) continue;  // not JSON; no type of ours has it
    const Document row = parse_json("hub_counts.jsonl", line);
    const std::string type = *row.root.find("model_type")->as_string();
    if (*row.root.find("group")->as_string() != "causal" || !described_by_data(type)) continue;
    EXPECT_EQ(parameters_of(to_json_line(*row.root.find("config"))), *row.root.find("parameters")->as_int())
        << type;
    ++seen;
  }
  EXPECT_EQ(seen, kCounts.size());
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
  EXPECT_EQ(oss.details.special.size(), 3U);
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
  EXPECT_EQ(config_message(R"({"model_type": "gpt_oss", "num_experts_per_tok": 300})"),
            "config.json: line 1, num_experts_per_tok: a token cannot use 300 of 128 experts");
}

}  // namespace
}  // namespace nest::model
