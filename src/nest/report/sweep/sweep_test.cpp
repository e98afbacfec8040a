#include "nest/report/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/report/sweep/sweep_findings.hpp"
#include "nest/report/sweep/test_sweep_rows.hpp"

namespace nest::report {
namespace {

using test::row_of;

Sweep example() {
  Asked asked;
  asked.global_batch = 8;
  asked.optimizer = Optimizer::sgd;
  return {{test::example_inputs(), asked},
          {read_sweep_axis("cluster.levels.1.bandwidth=1GB/s..100GB/s:log3"),
           read_sweep_axis("global-batch=8,16")}};
}

TEST(Sweep, FirstAxisIsSlowest) {
  const Sweep sweep = example();
  EXPECT_EQ(sweep.points(), 6U);
  EXPECT_EQ(sweep.at(0)[0].second, "1GB/s");
  EXPECT_EQ(sweep.at(1)[1].second, "16");
  EXPECT_EQ(sweep.at(5)[0].second, "100GB/s");
}

TEST(Sweep, RunsEveryPointAndGoesOnWhereItWas) {
  const Sweep sweep = example();
  std::string file;
  const auto keep = [&](const SweepRow& row) { file += to_json_line(to_value(row, sweep)) + "\n"; };
  const std::vector<SweepRow> all = run_sweep(sweep, {.threads = 2}, keep);
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].point, i);
    EXPECT_EQ(all[i].status, "optimal") << all[i].reason;
  }
  EXPECT_LE(all[0].tokens_per_s, all[4].tokens_per_s);  // more bandwidth is never worse
  // Interrupted in the middle of a line: what is whole is kept, the rest is done again.
  const std::size_t third = file.find('\n', file.find('\n', file.find('\n') + 1) + 1);
  const std::vector<SweepRow> done = read_sweep_rows(file.substr(0, third + 20), sweep);
  EXPECT_EQ(done.size(), 3U);
  int again = 0;
  SweepOptions options;
  options.done = done;
  const std::vector<SweepRow> resumed = run_sweep(sweep, options, [&](const SweepRow&) { ++again; });
  EXPECT_EQ(again, 3);
  ASSERT_EQ(resumed.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_DOUBLE_EQ(resumed[i].tokens_per_s, all[i].tokens_per_s);
}

TEST(Sweep, RowsOfAnotherStudyAreNotOurs) {
  const Sweep sweep = example();
  Sweep other = example();
  other.base.asked.global_batch = 32;
  const std::string line = to_json_line(to_value(row_of(0, 1), other)) + "\nnot json\n";
  EXPECT_TRUE(read_sweep_rows(line, sweep).empty());
  EXPECT_EQ(read_sweep_rows(line, other).size(), 1U);
}

TEST(Sweep, InvalidPointsAreRowsToo) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("devices=4,5")};
  const std::vector<SweepRow> rows = run_sweep(sweep, {}, {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].status, "optimal");
  EXPECT_EQ(rows[1].status, "invalid");
  EXPECT_FALSE(rows[1].reason.empty());
  EXPECT_THAT(sweep_csv(sweep, rows), testing::HasSubstr("5,invalid,,,,,,,0,"));
}

TEST(Sweep, StopsWhenInterrupted) {
  SweepOptions options;
  options.threads = 1;
  int told = 0;
  const auto count = [&](const SweepRow&) {
    if (++told == 2) options.deadline.cancel();
  };
  EXPECT_EQ(run_sweep(example(), options, count).size(), 2U);
  EXPECT_EQ(told, 2);
}

TEST(Sweep, NoPointIsBegunAfterTheLimit) {
  SweepOptions options;
  options.deadline = Deadline(Seconds{0});
  EXPECT_TRUE(run_sweep(example(), options, [](const SweepRow&) { FAIL(); }).empty());
}

// Prices are no part of the study: rows of an earlier run are counted anew.
TEST(Sweep, CostsOfRowsThatWereThere) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("devices=2,4")};
  std::string file;
  (void)run_sweep(sweep, {.threads = 1},
                  [&](const SweepRow& row) { file += to_json_line(to_value(row, sweep)) + "\n"; });
  sweep.base.asked.run.prices = {{"", 3}};
  SweepOptions options;
  options.done = read_sweep_rows(file, sweep);
  ASSERT_EQ(options.done.size(), 2U);
  for (const SweepRow& row : run_sweep(sweep, options, [](const SweepRow&) { FAIL(); })) {
    ASSERT_TRUE(row.cost);
    EXPECT_EQ(row.rented, row.devices);
    // A trillion tokens at so many a second, in hours, of all devices.
    EXPECT_DOUBLE_EQ(*row.cost, 1e12 / row.tokens_per_s / 3600 * static_cast<double>(row.rented) * 3);
  }
}

}  // namespace
}  // namespace nest::report
