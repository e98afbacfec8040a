#include "nest/question/prunings.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nest::question {
namespace {

TEST(Prunings, EveryNameIsAnotherSwitch) {
  Prunings prunings;
  std::set<std::string> names;
  std::set<bool*> switches;
  for (const std::string& name : pruning_names()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    bool* own = find_pruning(prunings, name);
    ASSERT_NE(own, nullptr) << name;
    EXPECT_TRUE(switches.insert(own).second) << name;
    EXPECT_TRUE(*own) << name << " is on where nothing is said";
  }
  // One for each member: none is left without a name.
  EXPECT_EQ(switches.size(), sizeof(Prunings) / sizeof(bool));
}

TEST(Prunings, SwitchesTheOneItSays) {
  Prunings prunings;
  *find_pruning(prunings, "label-bound") = false;
  EXPECT_FALSE(prunings.label_bound);
  EXPECT_TRUE(prunings.stage_bound);
  *find_pruning(prunings, "memory-order") = false;
  EXPECT_FALSE(prunings.memory_order);
  *find_pruning(prunings, "dive") = false;
  EXPECT_FALSE(prunings.dive);
}

TEST(Prunings, OtherNamesHaveNoSwitch) {
  Prunings prunings;
  for (const char* name : {"", "label_bound", "Dive", "label-bound ", "label"})
    EXPECT_EQ(find_pruning(prunings, name), nullptr) << name;
}

}  // namespace
}  // namespace nest::question
