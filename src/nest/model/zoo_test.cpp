#include "nest/model/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/hub_config.hpp"

namespace nest::model {
namespace {

struct Published {
  const char* name;
  std::int64_t parameters;
  std::int64_t active = 0;  // 0: dense
};

// Published counts to the last parameter. Those up to whisper-large-v2 are the Hub's safetensors totals or
// keras-hub's presets; the others follow from the same formulas and agree with the counts on the models'
// pages.
constexpr Published kPublished[] = {
    {"llama2-7b", 6'738'415'616},
    {"llama2-13b", 13'015'864'320},
    {"llama2-70b", 68'976'648'192},
    {"llama3-8b", 8'030'261'248},
    {"llama3-70b", 70'553'706'496},
    {"llama3.1-8b", 8'030'261'248},
    {"llama3.1-70b", 70'553'706'496},
    {"llama3.1-405b", 405'853'388'800},
    {"llama3.2-1b", 1'235'814'400},
    {"mistral-7b", 7'241'732'096},
    {"mistral-7b-v0.3", 7'248'023'552},
    {"mixtral-8x7b", 46'702'792'704, 12'879'925'248},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-1.5b", 1'543'714'304},
    {"qwen2.5-3b", 3'085'938'688},
    {"qwen2-7b", 7'615'616'512},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen2-72b", 72'706'203'648},
    {"qwen2.5-72b", 72'706'203'648},
    {"qwen1.5-moe-a2.7b", 14'315'784'192},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-1.7b", 1'720'574'976},
    {"qwen3-4b", 4'022'468'096},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-14b", 14'768'307'200},
    {"qwen3-32b", 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624, 3'353'032'704},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v3", 671'026'419'200, 37'552'297'472},
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"opt-125m", 125'239'296},
    {"opt-1.3b", 1'315'758'080},
    {"opt-6.7b", 6'658'473'984},
    {"opt-13b", 12'853'473'280},
    {"opt-30b", 29'974'540'288},
    {"opt-66b", 65'719'701'504},
    {"bert-base", 109'482'240},
    {"bert-large", 335'141'888},
    {"t5-small", 60'506'624},
    {"t5-base", 222'903'552},
    {"t5-large", 737'668'096},
    {"t5-3b", 2'851'598'336},
    {"t5-11b", 11'307'321'344},
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
    {"phi-1.5", 1'418'270'720},
    {"phi-2", 2'779'683'840},
    {"whisper-tiny", 37'760'640},
    {"whisper-base", 72'593'920},
    {"whisper-small", 241'734'912},
    {"whisper-medium", 763'857'920},
    {"whisper-large-v2", 1'543'304'960},
    {"whisper-large-v3", 1'543'490'560},
    {"llama3.2-3b", 3'212'749'824},
    {"mixtral-8x22b", 140'620'634'112},
    {"qwen2.5-14b", 14'770'033'664},
    {"qwen2.5-32b", 32'763'876'352},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"deepseek-v2", 235'741'434'880},
    {"opt-350m", 331'196'416},
    {"t5-v1.1-xl", 2'849'757'184},
    {"t5-v1.1-xxl", 11'135'332'352},
    {"gemma2-2b", 2'614'341'888},
    {"gemma2-9b", 9'241'705'984},
    {"gemma2-27b", 27'227'128'320},
    {"phi-3-mini", 3'821'079'552},
    {"phi-3-medium", 13'960'238'080},
    {"gpt-neox-20b", 20'554'567'680},
    {"pythia-70m", 70'426'624},
    {"pythia-410m", 405'334'016},
    {"pythia-12b", 11'846'072'320},
    {"vit-base", 86'567'656},
    {"vit-large", 304'326'632},
    {"vit-huge", 632'045'800},
    {"clip-vit-base-patch32", 151'277'313},
    {"clip-vit-large-patch14", 427'616'513},
};

// Models of 2025 and 2026, as Transformers 5.17 builds them from the same file; of DeepSeek-like models it does not count
// the biases that balance experts, and of Qwen3.5 this is the language model.
constexpr Published kRecent[] = {
    {"apertus-70b", 70'599'864'480},
    {"apertus-8b", 8'053'338'176},
    {"deepseek-v3.2", 671'877'929'216},
    {"deepseek-v4-flash", 284'325'869'015},
    {"dots.llm1", 142'774'373'888},
    {"ernie-4.5-21b-a3b", 21'825'437'888},
    {"ernie-4.5-300b-a47b", 299'484'163'264},
    {"exaone-4.0-32b", 32'003'216'384},
    {"gemma3-12b", 12'187'325'040},
    {"gemma3-1b", 999'885'952},
    {"gemma3-27b", 27'432'406'640},
    {"gemma3-4b", 4'300'079'472},
    {"glm-4.5", 352'797'814'784},
    {"glm-4.5-air", 106'852'245'504},
    {"glm-4.6", 352'797'814'784},
    {"glm-5", 743'911'199'232},
    {"gpt-oss-120b", 116'829'156'672},
    {"gpt-oss-20b", 20'914'757'184},
    {"granite-3.3-8b", 8'170'835'968},
    {"jamba-1.5-large", 398'555'145'696},
    {"kimi-k2", 1'026'408'209'408},
    {"kimi-linear-48b-a3b", 49'122'675'072},
    {"llama4-maverick", 401'583'781'376},
    {"llama4-scout", 108'641'793'536},
    {"mamba2-2.7b", 2'702'599'680},
    {"minimax-m2", 228'689'748'992},
    {"mistral-small-24b", 23'572'403'200},
    {"mistral-small-3.1-24b", 24'011'361'280},
    {"nemotron-h-56b", 56'324'350'464},
    {"nemotron-h-8b", 8'100'852'736},
    {"olmo2-13b", 13'716'198'400},
    {"olmo2-32b", 32'234'279'936},
    {"olmo2-7b", 7'298'617'344},
    {"olmo3-32b", 32'233'522'176},
    {"olmo3-7b", 7'298'011'136},
    {"phi-4", 14'659'507'200},
    {"phi-4-mini", 3'836'021'760},
    {"qwen2.5-vl-72b", 73'410'777'344},
    {"qwen2.5-vl-7b", 8'292'166'656},
    {"qwen3-coder-480b-a35b", 480'154'875'392},
    {"qwen3-next-80b-a3b", 79'674'391'296},
    {"qwen3-vl-235b-a22b", 235'670'022'896},
    {"qwen3-vl-8b", 8'767'123'696},
    {"qwen3.5-397b-a17b", 396'346'350'336},
    {"seed-oss-36b", 36'151'104'512},
    {"smollm3-3b", 3'075'098'624},
};

class PublishedCount : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedCount, IsExact) {
  const Published& p = GetParam();
  const Model model = build_model(zoo_model(p.name));
  EXPECT_EQ(model.parameters(), p.parameters);
  EXPECT_EQ(model.active_parameters(), p.active > 0 ? p.active : model.active_parameters());
}

std::string test_name(const ::testing::TestParamInfo<Published>& row) {
  std::string name = row.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Zoo, PublishedCount, ::testing::ValuesIn(kPublished), test_name);

INSTANTIATE_TEST_SUITE_P(Recent, PublishedCount, ::testing::ValuesIn(kRecent), test_name);

TEST(Zoo, HasTheNamesOfTheDesignAndMany) {
  const std::vector<std::string> names = zoo_names();
  EXPECT_GE(names.size(), 60U);
  for (const char* name : {"llama3.1-70b", "llama3.2-1b", "llama2-7b", "gpt3-175b", "gpt2-xl", "bert-large",
                           "mixtral-8x7b", "deepseek-v3", "qwen2.5-72b", "qwen3-30b-a3b", "t5-11b"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

// Punctuation is ignored in look-ups; were two names equal without it, one of them could not be reached.
TEST(Zoo, EveryNameFindsItsOwnModel) {
  for (const std::string& name : zoo_names()) EXPECT_EQ(zoo_model(name).name, name);
}

TEST(Zoo, TakesTheHubsSpelling) {
  EXPECT_EQ(zoo_model("Llama-3.1-8B").name, "llama3.1-8b");
  EXPECT_EQ(zoo_model("Qwen/Qwen3-235B-A22B-Instruct-2507").name, "qwen3-235b-a22b");
  EXPECT_EQ(zoo_model("google/gemma-3-27b-it").name, "gemma3-27b");
  EXPECT_EQ(zoo_model("meta-llama/Llama-2-7b-hf").name, "llama2-7b");
  EXPECT_EQ(zoo_model("bert-large-uncased").name, "bert-large");
  EXPECT_EQ(zoo_model("phi-1_5").name, "phi-1.5");
  EXPECT_EQ(zoo_model("gemma-2-9b").name, "gemma2-9b");
}

TEST(Zoo, VariantsAndShortNamesAreTheirModel) {
  EXPECT_EQ(zoo_model("Llama-3.1-70B-Instruct").name, "llama3.1-70b");
  EXPECT_EQ(zoo_model("meta-llama/Llama-2-7b-chat-hf").name, "llama2-7b");
  EXPECT_EQ(zoo_model("qwen3-235b").name, "qwen3-235b-a22b");
  EXPECT_EQ(zoo_model("Qwen/Qwen3-30B").name, "qwen3-30b-a3b");
  EXPECT_THROW((void)zoo_model("llama3.1"), InputError);  // several begin so
  EXPECT_THROW((void)zoo_model("mistral-7"), InputError);
  Warnings warnings;
  EXPECT_TRUE(std::holds_alternative<ModelSpec>(load_model("meta-llama/Llama-3.1-8B", warnings)));
}

TEST(Zoo, UnknownNameGetsAGuess) {
  try {
    static_cast<void>(zoo_model("llama3.1-71b"));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "there is no model 'llama3.1-71b'; did you mean 'llama3.1-70b'?");
  }
}

TEST(Zoo, SeveralGuessesWhereOneWouldMislead) {
  const auto hint = [](const std::string& name) {
    try {
      static_cast<void>(zoo_model(name));
    } catch (const InputError& e) {
      return e.hint();
    }
    return std::string("no error");
  };
  EXPECT_EQ(hint("megatron"), "names that begin so: megatron-1.7b, megatron-1008b, megatron-145.6b, ...");
  EXPECT_EQ(hint("clip"), "names that begin so: clip-vit-base-patch32, clip-vit-large-patch14");
  EXPECT_EQ(hint("gpt4"), "did you mean 'gpt2' or 'gpt2-xl'?");
  EXPECT_EQ(hint("opt-12b"), "did you mean 'opt-13b'?");
  EXPECT_EQ(hint("opt-3b"), "did you mean 'opt-13b' or 'opt-30b'?");
  EXPECT_EQ(hint("zzz"), "'nest models' lists them; a config.json or a layer profile is given as a file");
}

// Keys of the published files that no shape depends on are known not to be misspellings.
TEST(Zoo, ItsOwnFilesEarnNoWarning) {
  for (const EmbeddedFile& file : model_files()) {
    Warnings warnings;
    const Document document = parse_json(std::string(file.name), std::string(file.text));
    static_cast<void>(read_hub_config(document, "x", warnings));
    EXPECT_THAT(warnings, ::testing::IsEmpty()) << file.name;
  }
}

TEST(Zoo, EveryModelBuildsAtItsDefaultsAndSmall) {
  for (const std::string& name : zoo_names()) {
    const ModelSpec spec = zoo_model(name);
    const Model model = build_model(spec, {.micro_batch = 4});
    EXPECT_GT(model.forward_flops().value, 0) << name;
    EXPECT_EQ(model.parameters(), build_model(spec, {.micro_batch = 1}).parameters()) << name;
    // Every edge goes forward and carries bytes; every layer but the embeddings is fed, and that which towers feed.
    const bool towers = std::any_of(spec.stacks.begin(), spec.stacks.end(),
                                    [](const StackSpec& stack) { return stack.to_tokens; });
    std::set<std::int32_t> fed;
    for (const Edge& e : model.edges) {
      EXPECT_LT(e.from.value, e.to.value) << name;
      EXPECT_GT(e.bytes.value, 0) << name;
      fed.insert(e.to.value);
    }
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const std::string& layer = model.layers[i].name;
      const bool stem = layer.ends_with("embedding") && !(towers && layer == "embedding");
      EXPECT_EQ(fed.contains(static_cast<std::int32_t>(i)), !stem) << name << " " << model.layers[i].name;
    }
  }
}

}  // namespace
}  // namespace nest::model
