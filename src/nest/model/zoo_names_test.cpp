#include "nest/model/zoo_names.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

std::string meant(std::string_view name) {
  const EmbeddedFile* file = file_of_name(model_files(), name);
  return file == nullptr ? "none" : std::string(file->name);
}

std::string hint(std::string_view name) {
  return name_hint(model_files(), name);
}

TEST(ZooNames, FormsOfAModelHaveItsShape) {
  EXPECT_EQ(meant("mistralai/Mixtral-8x7B-Instruct-v0.1"), "mixtral-8x7b");
  EXPECT_EQ(meant("mistralai/Mixtral-8x22B-Instruct-v0.1"), "mixtral-8x22b");
  EXPECT_EQ(meant("mistralai/Mistral-7B-Instruct-v0.3"), "mistral-7b-v0.3");
  EXPECT_EQ(meant("mistralai/Mistral-Nemo-Instruct-2407"), "mistral-nemo-12b");
  EXPECT_EQ(meant("mistralai/Mistral-Large-Instruct-2411"), "mistral-large-2");
  EXPECT_EQ(meant("ai21labs/AI21-Jamba-Large-1.5"), "jamba-1.5-large");
  EXPECT_EQ(meant("rednote-hilab/dots.llm1.inst"), "dots.llm1");
  EXPECT_EQ(meant("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"), "llama4-maverick");
  EXPECT_EQ(meant("zai-org/GLM-4.6-FP8"), "glm-4.6");
  EXPECT_EQ(meant("allenai/Olmo-3-7B-Think"), "olmo3-7b");
  EXPECT_EQ(meant("allenai/OLMo-2-1124-7B-Instruct"), "olmo2-7b");
  EXPECT_EQ(meant("deepseek-ai/DeepSeek-V3.2-Speciale"), "deepseek-v3.2");
  EXPECT_EQ(meant("deepseek-ai/DeepSeek-V3.1"), "deepseek-v3");
  EXPECT_EQ(meant("deepseek-ai/DeepSeek-V3-0324"), "deepseek-v3");
  EXPECT_EQ(meant("Qwen/Qwen3-Coder-30B-A3B-Instruct"), "qwen3-30b-a3b");
  EXPECT_EQ(meant("Qwen/Qwen3-8B-Base"), "qwen3-8b");
  EXPECT_EQ(meant("moonshotai/Kimi-K2-Instruct-0905"), "kimi-k2");
}

// A word that only looks like a form of another model stays what it is.
TEST(ZooNames, OtherModelsAreNotTakenForOne) {
  EXPECT_EQ(meant("bert-base"), "bert-base");
  EXPECT_EQ(meant("t5-base"), "t5-base");
  EXPECT_EQ(meant("bert"), "none");
  EXPECT_EQ(meant("mistralai/Mistral-Small-Instruct-2409"), "none") << "which has 22 B parameters";
  EXPECT_EQ(meant("mistralai/Mistral-7B-Instruct-v0.2"), "none") << "whose window is another";
  EXPECT_EQ(meant("opt-13b"), "opt-13b");
  EXPECT_EQ(meant("opt-1.3b"), "opt-1.3b");
  EXPECT_EQ(meant(""), "none");
  EXPECT_EQ(meant("/"), "none");
}

TEST(ZooNames, NeighboursAreLookedForWithoutOrganisationAndForm) {
  EXPECT_EQ(hint("google/gemma-3-27"), "did you mean 'gemma3-27b'?");
  EXPECT_EQ(hint("meta-lama/Llama-3.1-70"), "did you mean 'llama3.1-70b'?");
  EXPECT_EQ(hint("qwen3-next"), "did you mean 'qwen3-next-80b-a3b'?");
  EXPECT_EQ(hint("Qwen/Qwen3-VL"), "names that begin so: qwen3-vl-235b-a22b, qwen3-vl-8b");
  EXPECT_EQ(hint("deepseek-ai/DeepSeek-V3.3"), "did you mean 'deepseek-v3.2'?");
  EXPECT_EQ(hint("meta-llama/Llama-3.1-71B-Instruct"), "did you mean 'llama3.1-70b'?");
  EXPECT_EQ(hint("Qwen/Qwen3-Coder-Plus-Instruct"), "did you mean 'qwen3-coder-480b-a35b'?");
  EXPECT_EQ(hint("nobody/zzz"), "");
}

}  // namespace
}  // namespace nest::model
