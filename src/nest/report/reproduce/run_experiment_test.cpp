#include "nest/report/reproduce/run_experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/report/reproduce/test_experiment.hpp"

namespace nest::report {
namespace {

using test::made_up_options;
using test::some_points;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> column(const ExperimentResult& result, std::int64_t devices) {
  std::vector<std::string> methods;
  for (const ExperimentRow& row : result.rows)
    if (row.point.devices == devices) methods.push_back(row.method);
  return methods;
}

const ExperimentRow& row_of(const ExperimentResult& result, std::int64_t devices, const std::string& method) {
  for (const ExperimentRow& row : result.rows)
    if (row.point.devices == devices && row.method == method) return row;
  throw std::out_of_range(method);
}

TEST(RunExperiment, RelativeToManualWhereItFirstFits) {
  const ExperimentResult result = run_experiment(some_points("figure5", "bert-large"), made_up_options());
  EXPECT_THAT(column(result, 64), ElementsAre("manual", "mcmc", "alpa", "phaze", "nest"));
  EXPECT_EQ(row_of(result, 64, "manual").status, "infeasible");
  EXPECT_EQ(row_of(result, 64, "manual").reason, "stage 0 needs 70 GiB, and a device has 64");
  EXPECT_FALSE(row_of(result, 64, "manual").relative);
  EXPECT_DOUBLE_EQ(*row_of(result, 128, "manual").relative, 1);
  EXPECT_DOUBLE_EQ(*row_of(result, 64, "nest").relative, 1);     // 2 / 2
  EXPECT_DOUBLE_EQ(*row_of(result, 1024, "nest").relative, 16);  // 32 / 2
  EXPECT_EQ(row_of(result, 1024, "nest").status, "optimal");
  EXPECT_TRUE(row_of(result, 64, "nest").plan->stages.front().devices.empty());
}

TEST(RunExperiment, RelativeToManualOfTheSamePoint) {
  const ExperimentResult result = run_experiment(some_points("table3", "gpt3-175b"), made_up_options());
  EXPECT_DOUBLE_EQ(*row_of(result, 1024, "manual").relative, 1);
  EXPECT_DOUBLE_EQ(*row_of(result, 1024, "nest").relative, 2);
}

TEST(RunExperiment, VariantsAskTheSearchAgain) {
  const ExperimentResult result = run_experiment(some_points("ablation", "gpt3-175b"), made_up_options());
  EXPECT_DOUBLE_EQ(*row_of(result, 64, "no-zero").relative, 1);  // the made-up search does not care
  EXPECT_DOUBLE_EQ(*row_of(result, 64, "flat").relative, 0.75);
  EXPECT_EQ(row_of(result, 64, "nest").plan->training.micro_batch, 1);
  EXPECT_EQ(row_of(result, 64, "any-batch").plan->training.micro_batch, 4);
}

TEST(RunExperiment, SomeMethodsAlwaysWithTheReference) {
  ExperimentOptions options = made_up_options();
  options.methods = {"phaze", "nest"};
  EXPECT_THAT(methods_of(*find_experiment("figure5"), options), ElementsAre("manual", "phaze", "nest"));
  EXPECT_THAT(methods_of(*find_experiment("ablation"), options), ElementsAre("nest", "phaze"));
}

TEST(RunExperiment, GivenDegreesAreFurtherRows) {
  ExperimentOptions options = made_up_options();
  options.methods = {"manual"};
  DegreesRow row;
  row.baseline = "manual";
  row.devices = 128;
  options.degrees = {row};
  const ExperimentResult result = run_experiment(some_points("table3", "gpt3-175b"), options);
  EXPECT_THAT(column(result, 128), ElementsAre("manual", "nest", "given manual"));
  EXPECT_THAT(column(result, 1024), ElementsAre("manual", "nest"));
}

TEST(RunExperiment, GivenDegreesOfTheMicroBatch) {
  ExperimentOptions options = made_up_options();
  options.methods = {"manual"};
  DegreesRow one;
  one.baseline = "mcmc";
  one.setup = "tpuv4_fatTree";
  DegreesRow two = one;
  two.baseline = "phaze";
  two.setup = "tpuv4_fatTree_mbs2";
  options.degrees = {one, two};
  std::vector<std::string> given;
  for (const ExperimentRow& row : run_experiment(some_points("figure6", "llama2-7b"), options).rows)
    if (row.method.starts_with("given"))
      given.push_back(row.method + " " + std::to_string(row.point.micro_batch));
  EXPECT_THAT(given, ElementsAre("given mcmc 1", "given phaze 2"));
}

TEST(RunExperiment, RowsComeInOrderWhateverTheThreads) {
  ExperimentOptions options = made_up_options();
  std::vector<std::size_t> done;
  options.progress = [&](const ExperimentProgress& p) { done.push_back(p.done); };
  options.threads = 3;
  const ExperimentResult many = run_experiment(some_points("figure6", "llama2-7b"), options);
  EXPECT_THAT(done, ElementsAre(1U, 2U, 3U, 4U));
  options.threads = 1;
  const ExperimentResult one = run_experiment(some_points("figure6", "llama2-7b"), options);
  ASSERT_EQ(many.rows.size(), one.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(many.rows[i].point.micro_batch, one.rows[i].point.micro_batch);
    EXPECT_EQ(many.rows[i].method, one.rows[i].method);
  }
}

TEST(RunExperiment, PointsWithoutAProfileAreSkipped) {
  ExperimentOptions options = made_up_options();
  options.profiles = testing::TempDir();
  const ExperimentResult result = run_experiment(some_points("table3", "llama2-7b"), options);
  EXPECT_EQ(result.rows.front().status, "skipped");
  EXPECT_THAT(result.rows.front().reason, HasSubstr("h100_spineLeaf_llama2_mbs1.json"));
}

TEST(RunExperiment, AQuestionAsThePaperAsksIt) {
  const PlanQuestion q = question_of(some_points("figure5", "gpt3-175b")[2], made_up_options());
  EXPECT_EQ(q.inputs.cluster.devices(), 256);
  EXPECT_EQ(q.inputs.recipe.name, "plain");
  EXPECT_EQ(q.training.global_batch, 4096);
  EXPECT_EQ(q.training.sequence, 2048);
  EXPECT_TRUE(q.space.micro_batch.has(1));
  EXPECT_EQ(q.options.threads, 1);
}

TEST(RunExperiment, AFasterNetwork) {
  const ExperimentPoint point = some_points("figure5", "gpt3-175b")[2];
  ExperimentOptions options = made_up_options();
  const Level before = question_of(point, options).inputs.cluster.levels().front();
  options.network_speed = 1000;
  const Level after = question_of(point, options).inputs.cluster.levels().front();
  EXPECT_DOUBLE_EQ(after.bandwidth.value, 1000 * before.bandwidth.value);
  EXPECT_DOUBLE_EQ(after.latency.value, before.latency.value / 1000);
}

TEST(RunExperiment, ADisagreementIsABug) {
  ExperimentOptions options = made_up_options();
  options.compare = [](const PlanQuestion& q, const std::vector<std::string>& n, const CompareOptions& o) {
    Comparison all = test::made_up(q, n, o);
    all.found.status = PlanStatus::disagreement;
    all.found.reason = "1 s is not 2 s";
    return all;
  };
  EXPECT_THAT(run_experiment(some_points("table3", "gpt3-175b"), options).bugs,
              ElementsAre("1 s is not 2 s", "1 s is not 2 s"));
}

}  // namespace
}  // namespace nest::report
