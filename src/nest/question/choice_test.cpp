#include "nest/question/choice.hpp"

#include <gtest/gtest.h>

namespace nest::question {
namespace {

TEST(Choice, NothingSaidLeavesAllOpen) {
  const Choice open;
  EXPECT_TRUE(open.open());
  EXPECT_TRUE(open.has(7));
  EXPECT_EQ(open.spell(), "any");
  EXPECT_EQ(open.values(3), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(open.values(1, 0), (std::vector<std::int64_t>{0, 1}));
}

TEST(Choice, OneValueIsPinned) {
  const Choice pinned(8);
  EXPECT_FALSE(pinned.open());
  EXPECT_TRUE(pinned.has(8));
  EXPECT_FALSE(pinned.has(4));
  EXPECT_EQ(pinned.values(100), (std::vector<std::int64_t>{8}));
  EXPECT_TRUE(pinned.values(7).empty());
}

TEST(Choice, ReadsNumbersListsAndRanges) {
  EXPECT_EQ(read_choice("4"), Choice(4));
  EXPECT_EQ(read_choice("0"), Choice(0));
  const auto mixed = read_choice("1,2,8..16");
  ASSERT_TRUE(mixed);
  EXPECT_TRUE(mixed->has(9));
  EXPECT_FALSE(mixed->has(3));
  EXPECT_EQ(mixed->values(10), (std::vector<std::int64_t>{1, 2, 8, 9, 10}));
  EXPECT_EQ(mixed->spell(), "1,2,8..16");
}

TEST(Choice, ValuesAreAscendingAndWithoutRepeats) {
  EXPECT_EQ(read_choice("8,2..4,3")->values(100), (std::vector<std::int64_t>{2, 3, 4, 8}));
}

TEST(Choice, RefusesWhatIsNone) {
  for (const char* text : {"", ",", "1,", ",1", "x", "2..x", "..", "2..", "..2", "4..2", "-1", "1.5", "1 2",
                           "99999999999999999999"})
    EXPECT_FALSE(read_choice(text)) << text;
}

TEST(Choice, SpellsWhatItReads) {
  for (const char* text : {"1", "1,2,4", "2..16", "1,4..8,32"}) EXPECT_EQ(read_choice(text)->spell(), text);
}

}  // namespace
}  // namespace nest::question
