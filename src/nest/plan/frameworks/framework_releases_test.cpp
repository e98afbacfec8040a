#include "nest/plan/frameworks/framework_releases.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::plan {
namespace {

TEST(FrameworkReleases, AreFoundByNameNumberAndPatch) {
  const ReleaseTable& megatron = *find_releases("megatron");
  for (const char* text : {"core_v0.16", "core_v0.16.0", "v0.16", "0.16", "0.16.1"})
    EXPECT_EQ(megatron.find(text)->name, "core_v0.16") << text;
  for (const char* text : {"core_v0.1", "0.160", "0", "", "core_v", "0.16rc1", "dev"})
    EXPECT_EQ(megatron.find(text), nullptr) << text;
  EXPECT_EQ(megatron.find("main")->released, "2026-08-22");
  EXPECT_EQ(megatron.usual().name, "core_v0.19");
  EXPECT_EQ(find_releases("placement"), nullptr);
}

TEST(FrameworkReleases, AreSplitFromTheFramework) {
  EXPECT_EQ(split_release("megatron@0.16").framework, "megatron");
  EXPECT_EQ(split_release("megatron@0.16").release, "0.16");
  EXPECT_FALSE(split_release("megatron").named);
  EXPECT_TRUE(split_release("megatron@").named);
}

TEST(FrameworkReleases, AreSpelledAsRuns) {
  const ReleaseTable& table = *find_releases("megatron");
  EXPECT_EQ(table.spell(), "core_v0.14 to core_v0.19 and main");
  const auto some = [&](std::initializer_list<const char*> names) {
    std::vector<const Release*> list;
    for (const char* name : names) list.push_back(table.find(name));
    return spell_releases(list);
  };
  EXPECT_EQ(some({"0.14", "0.16", "0.17"}), "Megatron-LM core_v0.14 and core_v0.16 to core_v0.17");
  EXPECT_EQ(some({"0.14", "0.16", "0.18", "main"}),
            "Megatron-LM core_v0.14, core_v0.16, core_v0.18 and main");
  EXPECT_EQ(some({}), "");
}

TEST(FrameworkReleases, ProblemsNameTheNearest) {
  const ReleaseTable& table = *find_releases("megatron");
  EXPECT_EQ(
      table.problem("core_v0.13"),
      "Megatron-LM 'core_v0.13' is not supported, core_v0.14 to core_v0.19 and main are; the nearest is "
      "'megatron@core_v0.14'");
  EXPECT_TRUE(table.problem("0.25").ends_with("'megatron@core_v0.19'"));
  EXPECT_TRUE(table.problem("mian").ends_with("'megatron@main'"));
  EXPECT_EQ(find_releases("deepspeed")->problem("0.18"),
            "DeepSpeed '0.18' is not supported, 0.19 is; the nearest is 'deepspeed@0.19'");
}

TEST(FrameworkReleases, ChooseRules) {
  EXPECT_EQ(find_framework_rules("megatron@0.13"), nullptr);
  EXPECT_EQ(find_framework_rules("megatorn@0.16"), nullptr);
  EXPECT_EQ(find_framework_rules("megatron@0.16.1"), find_framework_rules("megatron@core_v0.16"));
  const ReleaseTable& table = *find_releases("megatron");
  EXPECT_TRUE(table.within(*table.find("0.16"), "core_v0.16", "core_v0.16"));
  EXPECT_FALSE(table.within(*table.find("0.16"), "core_v0.17", ""));
  EXPECT_FALSE(table.within(*table.find("0.16"), "", "core_v0.15"));
  EXPECT_TRUE(table.within(*table.find("main"), "core_v0.17", ""));
}

}  // namespace
}  // namespace nest::plan
