#include "nest/solve/baselines/baselines.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nest::solve {
namespace {

TEST(Baselines, EachHasANameOfItsOwnAndSaysWhatItKnows) {
  std::set<std::string_view> names;
  for (const Baseline& b : baselines()) {
    EXPECT_TRUE(names.insert(b.name).second) << b.name;
    EXPECT_EQ(find_baseline(b.name), &b);
    for (const std::string_view text : {b.title, b.does, b.knows, b.ignores})
      EXPECT_FALSE(text.empty()) << b.name;
    EXPECT_NE(b.find, nullptr) << b.name;
  }
  for (const char* name : {"manual", "mcmc", "alpa", "phaze", "flat", "no-memory"})
    EXPECT_TRUE(names.contains(name));
  EXPECT_EQ(find_baseline("nest"), nullptr);
}

}  // namespace
}  // namespace nest::solve
