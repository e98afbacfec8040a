#include "nest/frameworks/torchtitan/schedule_csv.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/frameworks/test_validators.hpp"

namespace nest::frameworks {
namespace {

TEST(ScheduleCsv, OfTwoStages) {
  EXPECT_EQ(schedule_csv(Schedule::one_f_one_b, 2, 1, 2), "0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1,\n");
}

// Every rank does every pass of every micro-batch once, after what it needs.
TEST(ScheduleCsv, KeepsTheOrderOfPasses) {
  for (const Schedule schedule :
       {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zb_h1, Schedule::interleaved, Schedule::zb_v}) {
    for (const int stages : {2, 3, 4}) {
      const bool turns = schedule == Schedule::zb_v;
      const int chunks = schedule == Schedule::interleaved || turns ? 2 : 1;
      const int micro_batches = 2 * stages;
      const auto lines = test::split(schedule_csv(schedule, stages, chunks, micro_batches), '\n');
      ASSERT_EQ(static_cast<int>(lines.size()), stages);
      std::map<std::string, std::size_t> step;
      for (std::size_t r = 0; r < lines.size(); ++r) {
        const auto cells = test::split(lines[r], ',');
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (cells[i].empty()) continue;
          EXPECT_TRUE(step.emplace(cells[i], i + 1).second) << cells[i];
          const int part = std::stoi(cells[i]);
          const bool back = turns && part >= stages;
          EXPECT_EQ(back ? 2 * stages - 1 - part : part % stages, static_cast<int>(r));
        }
      }
      const bool splits = schedule == Schedule::zb_h1 || turns;
      const int parts = stages * chunks;
      EXPECT_EQ(static_cast<int>(step.size()), parts * micro_batches * (splits ? 3 : 2));
      const std::string back = splits ? "I" : "B";
      for (int p = 0; p < parts; ++p) {
        for (int m = 0; m < micro_batches; ++m) {
          const auto at = [&](int part, const std::string& kind) {
            return step.at(std::to_string(part) + kind + std::to_string(m));
          };
          if (p > 0) {
            EXPECT_LT(at(p - 1, "F"), at(p, "F"));
            EXPECT_LT(at(p, back), at(p - 1, back));
          }
          EXPECT_LT(at(p, "F"), at(p, back));
          if (splits) {
            EXPECT_LT(at(p, "I"), at(p, "W"));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nest::frameworks
