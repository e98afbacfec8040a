#include "nest/frameworks/exporters.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

TEST(Exporters, AreFoundByName) {
  EXPECT_EQ(find_exporter("megatron")->title, "Megatron-LM");
  EXPECT_EQ(find_exporter("Megatron"), nullptr);
  std::set<std::string_view> names;
  for (const Exporter& e : exporters()) EXPECT_TRUE(names.insert(e.name).second) << e.name;
}

// A simple plan runs everywhere, and every export has its notes and the map of ranks.
TEST(Exporters, AllTakeASimplePlan) {
  for (const Exporter& e : exporters()) {
    test::Planner planner("llama3.1-8b");
    const test::Exported out = test::exported(e.name, planner.question(test::degrees({}, 4, 8)));
    EXPECT_EQ(out.result.rule, "") << e.name << ": " << out.result.sentence;
    if (e.name == "chakra") continue;
    EXPECT_TRUE(out.files.contains("NOTES.md")) << e.name;
    EXPECT_TRUE(out.files.contains("placement/rank_map.csv")) << e.name;
    EXPECT_FALSE(out.result.next.empty()) << e.name;
  }
}

}  // namespace
}  // namespace nest::frameworks
