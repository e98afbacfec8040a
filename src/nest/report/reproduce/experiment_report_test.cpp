#include "nest/report/reproduce/experiment_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/reproduce/published.hpp"
#include "nest/report/reproduce/test_experiment.hpp"

namespace nest::report {
namespace {

using test::made_up_options;
using test::some_points;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ExperimentResult small_result() {
  ExperimentOptions options = made_up_options();
  options.methods = {"manual", "phaze"};
  return run_experiment(points_of(*find_experiment("figure5"), {{"bert-large"}, *read_choice("64,128")}),
                        options);
}

TEST(ExperimentReport, TextHasAColumnForEachMethod) {
  EXPECT_EQ(experiment_text(*find_experiment("figure5"), small_result().rows),
            "paper-tpuv4-fat-tree\n"
            "model       devices  manual  phaze  nest  nest's plan\n"
            "bert-large       64       x   0.75  1.00  t4 p1 d16 z0\n"
            "bert-large      128    1.00   1.50  2.00  t4 p1 d32 z0\n");
}

TEST(ExperimentReport, PublishedFiguresStandInBrackets) {
  ExperimentResult result = small_result();
  set_beside(result, read_published("p.csv",
                                    "experiment,setup,model,devices,micro_batch,manual,nest\n"
                                    "figure5,tpuv4_fatTree,bert,64,1,1.0,1.35\n"));
  EXPECT_THAT(experiment_text(*find_experiment("figure5"), result.rows),
              HasSubstr("x (1.00)  0.75 (-)  1.00 (1.35)"));
}

TEST(ExperimentReport, CsvHasAllRowsAndQuotesReasons) {
  const std::string csv = experiment_csv(small_result().rows);
  EXPECT_THAT(csv, StartsWith("experiment,cluster,model,devices,micro_batch,method,status,step_s,"));
  EXPECT_THAT(csv,
              HasSubstr("figure5,paper-tpuv4-fat-tree,bert-large,64,1,manual,infeasible,,,,,,,,,,,,,,,0.0000,"
                        "\"stage 0 needs 70 GiB, and a device has 64\"\n"));
  EXPECT_THAT(csv, HasSubstr("bert-large,128,1,nest,optimal,1024,4,2,,,4,1,32,1,1,0,1,1,none,0.2500,\n"));
}

TEST(ExperimentReport, JsonOfARow) {
  const ExperimentResult result = small_result();
  EXPECT_THAT(to_json(to_value(result.rows.back())), HasSubstr("\"relative\": 2"));
  EXPECT_THAT(to_json(to_value(result.rows.front())), HasSubstr("\"reason\""));
}

TEST(ExperimentReport, ChartHasAPanelForEachModelAndACrossWhereNothingFits) {
  const std::string svg = experiment_chart(*find_experiment("figure5"), small_result());
  EXPECT_THAT(svg, HasSubstr(">bert-large</text>"));
  EXPECT_THAT(svg, HasSubstr("manual, 64 devices: infeasible: stage 0 needs 70 GiB"));
  EXPECT_THAT(svg, HasSubstr("nest, 128 devices: 1,024 s a step, 4.0 sequences/s; t4 p1 d32 z0"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(ExperimentReport, ShortPlanSaysWhatIsUnusual) {
  ExperimentRow row = small_result().rows.back();
  row.plan->parallelism.strategy.expert = 8;
  row.plan->parallelism.interleave = 2;
  row.plan->training.micro_batch = 4;
  row.plan->stages.front().recompute.policy = RecomputePolicy::full;
  EXPECT_EQ(short_plan(row), "t4 p1 d32 z0 e8 v2 b4 full");
  row.plan.reset();
  EXPECT_EQ(short_plan(row), "");
}

}  // namespace
}  // namespace nest::report
