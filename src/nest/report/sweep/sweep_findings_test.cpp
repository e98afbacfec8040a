#include "nest/report/sweep/sweep_findings.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/report/sweep/test_sweep_rows.hpp"

namespace nest::report {
namespace {

using test::row_of;

Sweep example() {
  return {{test::example_inputs(), {}}, {}};
}

TEST(SweepFindings, FrontAndKnee) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("cluster.levels.1.bandwidth=1GB/s,2GB/s,4GB/s,8GB/s")};
  const std::vector<SweepRow> rows{row_of(0, 50), row_of(1, 99.5), row_of(2, 99.5), row_of(3, 100)};
  EXPECT_EQ(pareto_front(sweep, rows), (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(sweep_findings(sweep, rows),
            (std::vector<std::string>{
                "cluster.levels.1.bandwidth: 2GB/s gives 99 % of the best throughput; more than that "
                "hardly helps"}));
  const std::vector<SweepRow> paying{row_of(0, 50), row_of(1, 60), row_of(2, 80), row_of(3, 100)};
  EXPECT_EQ(sweep_findings(sweep, paying),
            (std::vector<std::string>{"cluster.levels.1.bandwidth: more still helps at 8GB/s"}));
  // Of latencies less is dearer.
  sweep.axes = {read_sweep_axis("cluster.levels.1.latency=1us,2us,4us")};
  const std::vector<SweepRow> late{row_of(0, 100), row_of(1, 100), row_of(2, 60)};
  EXPECT_EQ(pareto_front(sweep, late), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(sweep_findings(sweep, late),
            (std::vector<std::string>{"cluster.levels.1.latency: 2us gives 99 % of the best throughput; less "
                                      "than that hardly helps"}));
}

// A larger batch is not dearer, and ZeRO is no size.
TEST(SweepFindings, WhatCostsNothing) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("global-batch=8,16,32")};
  const std::vector<SweepRow> rows{row_of(0, 50), row_of(1, 99.5), row_of(2, 99)};
  EXPECT_EQ(sweep_findings(sweep, rows),
            (std::vector<std::string>{"global-batch: 16 has the most tokens/s"}));
  EXPECT_EQ(pareto_front(sweep, rows), (std::vector<std::size_t>{1}));
  sweep.axes = {read_sweep_axis("zero=0,1,2")};
  EXPECT_TRUE(sweep_findings(sweep, rows).empty());
}

TEST(SweepFindings, WhereItIsCheapest) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("cluster=a,b")};
  std::vector<SweepRow> rows{row_of(0, 50), row_of(1, 99.5)};
  rows[0].cost = 100;
  rows[1].cost = 250;
  EXPECT_EQ(sweep_findings(sweep, rows),
            (std::vector<std::string>{"a trillion tokens cost least with cluster a: 100"}));
  EXPECT_EQ(pareto_front(sweep, rows), (std::vector<std::size_t>{0, 1})) << "the cheaper and the faster";
}

TEST(SweepFindings, CsvHasEveryColumn) {
  Sweep sweep = example();
  sweep.axes = {read_sweep_axis("devices=2,4")};
  std::vector<SweepRow> rows{row_of(0, 50), row_of(1, 0)};
  rows[0].cost = 7.5;
  rows[0].rented = 4;
  const std::string csv = sweep_csv(sweep, rows);
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "devices,status,step_s,tokens_per_s,mfu,memory_share,devices,plan,pareto,search_s,reason,"
            "rented_devices,cost_per_trillion_tokens,goodput,step_low_s,step_high_s,memory_low_bytes,"
            "memory_high_bytes,fits_probability");
  EXPECT_NE(csv.find("2,optimal,0,50,0,0,0,,1,0,,4,7.5,,,,,,\n4,optimal,,,,,,,0,0,,,,,,,,,\n"),
            std::string::npos)
      << csv;
}

}  // namespace
}  // namespace nest::report
