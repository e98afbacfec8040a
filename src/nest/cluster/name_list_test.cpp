#include "nest/cluster/name_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace nest::cluster {
namespace {

using testing::ElementsAre;
using Names = std::vector<std::string>;

Names expanded(const Names& texts) {
  Names out;
  for (const std::string& text : texts) {
    const NameList one = expand_ranges(text, 100'000);
    EXPECT_EQ(one.problem, "") << text;
    out.insert(out.end(), one.names.begin(), one.names.end());
  }
  return out;
}

TEST(NameList, HostsAsSlurmWritesThem) {
  EXPECT_THAT(expand_names("node[001-003,7],login", 100).names,
              ElementsAre("node001", "node002", "node003", "node7", "login"));
  EXPECT_THAT(expand_names("n[9-11]", 100).names, ElementsAre("n9", "n10", "n11"));
  EXPECT_THAT(expand_names("r[0-1]n[08-09]x", 100).names,
              ElementsAre("r0n08x", "r0n09x", "r1n08x", "r1n09x"));
  EXPECT_TRUE(expand_names("", 100).names.empty());
  EXPECT_THAT(expand_names("a,,b,", 100).names, ElementsAre("a", "b"));
}

TEST(NameList, WhatIsNoList) {
  const auto problem = [](const char* text) { return expand_names(text, 1000).problem; };
  EXPECT_EQ(problem("node[01-04"), "'node[01-04' has no closing bracket");
  EXPECT_EQ(problem("node[4-1]"), "'[4-1]' is no list of numbers and ranges such as [001-128,200]");
  EXPECT_EQ(problem("node[a-b]"), "'[a-b]' is no list of numbers and ranges such as [001-128,200]");
  EXPECT_EQ(problem("node[]"), "'[]' is no list of numbers and ranges such as [001-128,200]");
  EXPECT_EQ(problem("n[0-999999999999999999]"), "'n[0-999999999999999999]' is too many names");
  EXPECT_EQ(problem("n[0-99]m[0-99]"), "'n[0-99]m[0-99]' is too many names");
  EXPECT_EQ(problem("n[0-600],m[0-600]"), "'m[0-600]' is too many names");
}

TEST(NameList, RangesAreOtherThanNumbersInBrackets) {
  EXPECT_TRUE(has_ranges("gpu[0-7]"));
  EXPECT_TRUE(has_ranges("x[1]gpu[0,7]"));
  EXPECT_FALSE(has_ranges("gpu[3]"));
  EXPECT_FALSE(has_ranges("gpu[left-right]"));
  EXPECT_FALSE(has_ranges("gpu[0-7"));
  EXPECT_FALSE(has_ranges("gpu"));
}

TEST(NameList, RunsBecomeShort) {
  Names all;
  for (const char* host : {"node008", "node009", "node010"}) {
    for (int gpu = 0; gpu < 8; ++gpu) all.push_back(std::string(host) + "/gpu" + std::to_string(gpu));
  }
  EXPECT_THAT(shorten_names(all), ElementsAre("node[008-010]/gpu[0-7]"));
  EXPECT_THAT(shorten_names(Names{"a1/gpu0", "a2/gpu0"}), ElementsAre("a[1-2]/gpu0"));
  EXPECT_THAT(shorten_names(Names{"b", "a", "a1"}), ElementsAre("b", "a", "a1"));
  EXPECT_THAT(shorten_names(Names{"x[1]", "y1", "y2"}), ElementsAre("x[1]", "y1", "y2"));
  EXPECT_TRUE(shorten_names(Names{}).empty());
}

// What is short gives back the same names in the same order.
RC_GTEST_PROP(NameList, ThereAndBack, ()) {
  Names names;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    const auto host = *rc::gen::inRange(0, 4);
    const auto width = *rc::gen::inRange(1, 4);
    std::string number = std::to_string(*rc::gen::inRange(7, 13));
    if (number.size() < static_cast<std::size_t>(width)) number.insert(0, width - number.size(), '0');
    names.push_back("rack" + std::to_string(host) + "-n" + number + "/gpu" + std::to_string(i % 4));
  }
  RC_ASSERT(expanded(shorten_names(names)) == names);
}

}  // namespace
}  // namespace nest::cluster
