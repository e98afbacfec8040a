// No target drops a detail of a model silently: where one is changed, its files change, or what is named as lost.
#include <gtest/gtest.h>

#include <array>

#include "nest/frameworks/test_details.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

struct Case {
  const char* target;
  const char* model;
};

// Models that a target describes, finds in its registry, or reads from the Hub: where it leaves the whole model to the
// user, it says so.
constexpr std::array kCases{
    Case{"megatron", "llama3.2-1b"},
    Case{"megatron", "gpt-oss-20b"},
    Case{"megatron", "deepseek-v2-lite"},
    Case{"torchtitan", "llama3.1-8b"},
    Case{"torchtitan", "qwen3-30b-a3b"},
    Case{"torchtitan", "deepseek-v2-lite"},
    Case{"maxtext", "llama3.2-1b"},
    Case{"maxtext", "llama3.1-8b"},
    Case{"maxtext", "gemma2-9b"},
    Case{"maxtext", "mixtral-8x7b"},
    Case{"maxtext", "qwen2.5-7b"},
    Case{"megatron-bridge", "llama3.1-8b"},
    Case{"megatron-bridge", "mixtral-8x7b"},
    Case{"megatron-bridge", "gpt-oss-20b"},
    Case{"verl", "llama3.1-8b"},
    Case{"ms-swift", "qwen3-30b-a3b"},
};

std::string said(std::string_view target, const ExportQuestion& question) {
  const test::Exported out = test::exported(target, question);
  EXPECT_EQ(out.result.rule, "") << target << ": " << out.result.sentence;
  std::string text;
  for (const auto& [name, bytes] : out.files) {
    if (!name.starts_with("placement/")) text += bytes;
  }
  return text;
}

TEST(DetailsExport, NothingIsDroppedSilently) {
  const std::vector<test::DetailChange> changes = test::detail_changes();
  for (const Case& own : kCases) {
    test::Planner planner(own.model, std::string(recipe_of(own.target)));
    const ExportQuestion question = planner.question(test::degrees({}, 1, 8));
    const std::string before = said(own.target, question);
    for (const test::DetailChange& change : changes) {
      ExportQuestion other = question;
      ModelSpec& spec = std::get<ModelSpec>(other.inputs.source);
      if (!change.make(spec)) continue;
      EXPECT_NE(said(own.target, other), before) << own.target << ", " << own.model << ": " << change.name;
    }
  }
}

// What the registries' own models have in place of the plan's.
TEST(DetailsExport, RegistriesAreCompared) {
  const auto lost = [](const char* target, const char* model) {
    test::Planner planner(model, std::string(recipe_of(target)));
    std::string out;
    for (const std::string& sentence :
         test::exported(target, planner.question(test::degrees({}, 1, 8))).result.lost)
      out += sentence + "\n";
    return out;
  };
  EXPECT_NE(lost("torchtitan", "llama3-8b")
                .find("the scaling of rotary positions: torchtitan's model has Llama 3, 8 times of 8192, 1 "
                      "to 4, the model "
                      "none"),
            std::string::npos);
  EXPECT_EQ(lost("torchtitan", "llama3.1-8b").find("torchtitan's model has"), std::string::npos);
  EXPECT_NE(lost("torchtitan", "deepseek-v2-lite")
                .find("the norms' epsilon: torchtitan's model has 1e-05, the model 1e-06"),
            std::string::npos);
  EXPECT_NE(
      lost("maxtext", "mistral-7b").find("sliding windows: MaxText's mistral-7b has none, the model 4096"),
      std::string::npos);
  EXPECT_NE(
      lost("maxtext", "gemma2-27b").find("the factor of attention's scores: MaxText's gemma2-27b has none"),
      std::string::npos);
  EXPECT_EQ(lost("ms-swift", "llama3.3-70b").find("Llama-3.1-70B has"), std::string::npos);
  EXPECT_EQ(lost("megatron-bridge", "qwen3-8b").find("Qwen3-8B has"), std::string::npos);
}

}  // namespace
}  // namespace nest::frameworks
