#include "nest/frameworks/exporters.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/test_exports.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

TEST(Exporters, AreFoundByName) {
  EXPECT_EQ(find_exporter("megatron")->title, "Megatron-LM");
  EXPECT_EQ(find_exporter("Megatron"), nullptr);
  std::set<std::string_view> names;
  for (const Exporter& e : exporters()) EXPECT_TRUE(names.insert(e.name).second) << e.name;
}

TEST(Exporters, TargetsHaveReleases) {
  EXPECT_EQ(read_target("megatron").release, nullptr);
  EXPECT_EQ(read_target("megatron@0.16.1").release->name, "core_v0.16");
  EXPECT_EQ(read_target("torchtitan@main").exporter->name, "torchtitan");
  EXPECT_EQ(
      message_of([] { static_cast<void>(read_target("megatron@core_v0.12")); }),
      "Megatron-LM 'core_v0.12' is not supported, core_v0.14 to core_v0.19 and main are; the nearest is "
      "'megatron@core_v0.14'");
  EXPECT_EQ(message_of([] { static_cast<void>(read_target("placement@1")); }), "placement has no releases");
  EXPECT_EQ(message_of([] { static_cast<void>(read_target("deepsped@0.19")); }),
            "there is no target 'deepsped'; did you mean 'deepspeed'?");
}

// Targets that have no word for the modules say so; those that start any program take every plan.
TEST(Exporters, ModulesForMultiTokenPrediction) {
  test::Planner planner("deepseek-v3");
  Plan plan = test::degrees({.expert = 8}, 4, 8);
  plan.training.mtp = true;
  const ExportQuestion question = planner.question(plan);
  const std::map<std::string_view, std::string> sentences{
      {"torchtitan", "torchtitan's models have no modules for multi-token prediction"},
      {"deepspeed", "plans for DeepSpeed are without modules for multi-token prediction"},
      {"accelerate", "plans for Accelerate are without modules for multi-token prediction"},
      {"maxtext", "plans for MaxText are without modules for multi-token prediction"},
      {"verl", "plans for verl are without modules for multi-token prediction"}};
  for (const Exporter& e : exporters()) {
    const test::Exported out = test::exported(e.name, question);
    const auto known = sentences.find(e.name);
    EXPECT_EQ(out.result.sentence, known == sentences.end() ? "" : known->second) << e.name;
  }
}

// Files say which release they are for, and torchtitan's two have files of their own.
TEST(Exporters, WriteForTheReleaseThatIsNamed) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  question.release = read_target("torchtitan@main").release;
  const test::Exported titan = test::exported("torchtitan", question);
  EXPECT_TRUE(titan.files.contains("nest_plan.py"));
  EXPECT_FALSE(titan.files.contains("train.toml"));
  EXPECT_EQ(spell_releases(titan.result.releases), "torchtitan main");
  question.release = nullptr;
  for (const Exporter& e : exporters()) {
    const test::Exported out = test::exported(e.name, question);
    EXPECT_EQ(out.result.releases.empty(), e.releases() == nullptr) << e.name;
    if (e.releases() != nullptr && e.name != "chakra") {
      EXPECT_NE(out.files.at("NOTES.md").find("These files are for " + spell_releases(out.result.releases)),
                std::string::npos)
          << e.name;
    }
  }
}

TEST(Exporters, SayWhenAndHowEachReleaseWasTried) {
  const Value list = exporters_value();
  ASSERT_EQ(list.as_array()->size(), exporters().size());
  for (const Value& target : *list.as_array()) {
    for (const Value& release : *target.find("releases")->as_array()) {
      EXPECT_FALSE(release.find("tried")->as_string()->empty());
      EXPECT_FALSE(release.find("how")->as_string()->empty());
    }
  }
}

// A simple plan runs everywhere, and every export has its notes and the map of ranks.
TEST(Exporters, AllTakeASimplePlan) {
  for (const Exporter& e : exporters()) {
    test::Planner planner("llama3.1-8b");
    const test::Exported out = test::exported(e.name, planner.question(test::degrees({}, 1, 8)));
    EXPECT_EQ(out.result.rule, "") << e.name << ": " << out.result.sentence;
    if (e.name == "chakra") continue;
    EXPECT_TRUE(out.files.contains("NOTES.md")) << e.name;
    EXPECT_TRUE(out.files.contains("placement/rank_map.csv")) << e.name;
    EXPECT_FALSE(out.result.next.empty()) << e.name;
  }
}

}  // namespace
}  // namespace nest::frameworks
