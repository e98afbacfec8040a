#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nest/question/space_options.hpp"

namespace nest::question {
namespace {

TEST(SpaceOptionTable, RowsAreFoundByTheirNames) {
  std::set<std::string_view> names;
  for (const SpaceOption& option : space_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(find_space_option(option.name), &option);
    EXPECT_FALSE(option.text.empty()) << option.name;
    EXPECT_FALSE(option.argument.empty()) << option.name;
  }
  EXPECT_EQ(find_space_option("tensors"), nullptr);
}

TEST(SpaceOptionTable, SchedulesAreListedWithTheDefault) {
  EXPECT_EQ(find_space_option("schedule")->text,
            "1f1b and interleaved (the default), gpipe, zb-h1, zb-v or dualpipe-v");
}

}  // namespace
}  // namespace nest::question
