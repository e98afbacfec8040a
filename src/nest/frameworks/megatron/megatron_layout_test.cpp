#include "nest/frameworks/megatron/megatron_layout.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_plans.hpp"
#include "support/message_of.hpp"
#include "support/stride.hpp"

namespace nest::frameworks {
namespace {

std::vector<PipelinePart> parts_of(const std::vector<std::int64_t>& blocks) {
  std::vector<PipelinePart> parts;
  for (const std::int64_t n : blocks) parts.push_back({{}, n, false, false});
  parts.front().embedding = parts.back().head = true;
  return parts;
}

TEST(MegatronLayout, IsShort) {
  EXPECT_EQ(layout_text(parts_of({8, 9, 9, 6})), "Et*8|(ttttttttt|)*2,t*6L");
  EXPECT_EQ(layout_text(parts_of({2, 1, 0})), "Ett|t|L");
  EXPECT_EQ(layout_text(parts_of({0, 3})), "E|t*3L");
  EXPECT_EQ(layout_text(parts_of({1, 2, 2, 2, 2})), "Et|(tt|)*3,ttL");
}

// Megatron-LM's own example: DeepSeek-V3 on 16 ranks, 2 chunks each.
TEST(MegatronLayout, ReadsTheOfficialExample) {
  const std::vector<LayoutPart> parts = read_layout("Et*3|(tt|)*29,m|L");
  ASSERT_EQ(parts.size(), 32U);
  EXPECT_EQ(parts[0], (LayoutPart{3, 0, true, false}));
  EXPECT_EQ(parts[29], (LayoutPart{2, 0, false, false}));
  EXPECT_EQ(parts[30], (LayoutPart{0, 1, false, false}));
  EXPECT_EQ(parts[31], (LayoutPart{0, 0, false, true}));
}

TEST(MegatronLayout, ReadsBackWhatItWrites) {
  for (unsigned seed = 1; seed <= 500; seed += test::stride()) {
    test::Dice dice(seed);
    std::vector<std::int64_t> blocks;
    for (std::int64_t n = dice.pick(2, 12); n > 0; --n) blocks.push_back(dice.pick(1, 4));
    const std::string text = layout_text(parts_of(blocks));
    const std::vector<LayoutPart> read = read_layout(text);
    ASSERT_EQ(read.size(), blocks.size()) << text;
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].blocks, blocks[i]) << text;
  }
}

TEST(MegatronLayout, RefusesWhatIsNone) {
  const auto problem = [](const char* text) {
    return message_of([&] { static_cast<void>(read_layout(text)); });
  };
  const std::string flag = "--pipeline-model-parallel-layout: ";
  EXPECT_EQ(problem("Etx|tL"), flag + "'x' is not one of E, t, m, L, |, (, ) and *");
  EXPECT_EQ(problem("E(t|tL"), flag + "a '(' is never closed");
  EXPECT_EQ(problem("Et)|tL"), flag + "a ')' without its '('");
  EXPECT_EQ(problem("Et*|tL"), flag + "a number is expected after '*'");
  EXPECT_EQ(problem("t|tL"), flag + "one E is expected, in the first stage");
  EXPECT_EQ(problem("t|EtL"), flag + "one E is expected, in the first stage");
  EXPECT_EQ(problem("Et|t"), flag + "one L is expected, in the last stage");
  EXPECT_EQ(problem("EtL|tL"), flag + "one L is expected, in the last stage");
  EXPECT_EQ(problem("Em|tL"), flag + "m comes after every t");
  EXPECT_EQ(problem("Et*99999999|L"), flag + "more than a million layers");
  EXPECT_EQ(problem("E((t*999999)*999999)*999999|L"), flag + "more than a million layers");
  EXPECT_EQ(problem(std::string(50, '(').c_str()), flag + "brackets in brackets, too many");
  EXPECT_EQ(problem(""), flag + "one E is expected, in the first stage");
}

}  // namespace
}  // namespace nest::frameworks
