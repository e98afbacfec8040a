#include "nest/plan/frameworks/framework_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nest/recipe/recipe.hpp"

namespace nest::plan {
namespace {

TEST(FrameworkTables, EachHasItsOwnNameAndReleases) {
  std::set<std::string_view> names;
  for (const FrameworkRules& table : framework_tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_NE(find_releases(table.name), nullptr) << table.name;
  }
}

TEST(FrameworkTables, EachHasARecipe) {
  EXPECT_EQ(recipe_of("torchtitan"), "torchtitan");
  EXPECT_EQ(recipe_of("megatron-bridge"), "megatron");
  const std::vector<std::string> recipes = recipe_names();
  for (const FrameworkRules& table : framework_tables())
    EXPECT_NE(std::find(recipes.begin(), recipes.end(), recipe_of(table.name)), recipes.end()) << table.name;
}

TEST(FrameworkTables, EveryRuleNamesReleasesThatThereAre) {
  const auto known = [](const ReleaseTable& table, std::string_view name) {
    return name.empty() || table.find(name) != nullptr;
  };
  for (const FrameworkRules& table : framework_tables()) {
    const ReleaseTable& releases = *find_releases(table.name);
    for (const FrameworkRule& rule : table.rules)
      EXPECT_TRUE(known(releases, rule.since) && known(releases, rule.until)) << rule.name;
    for (const InputRule& rule : table.input_rules)
      EXPECT_TRUE(known(releases, rule.since) && known(releases, rule.until)) << rule.name;
  }
}

}  // namespace
}  // namespace nest::plan
