#include "nest/report/reproduce/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "nest/cluster/catalog.hpp"
#include "nest/model/zoo.hpp"
#include "nest/solve/baselines/baselines.hpp"

namespace nest::report {
namespace {

TEST(Experiment, AsManyPointsAsThePaper) {
  EXPECT_EQ(points_of(*find_experiment("figure5"), {}).size(), 25U);
  EXPECT_EQ(points_of(*find_experiment("figure6"), {}).size(), 12U);
  EXPECT_EQ(points_of(*find_experiment("table3"), {}).size(), 10U);
  EXPECT_EQ(points_of(*find_experiment("ablation"), {}).size(), 30U);
  EXPECT_EQ(find_experiment("figure7"), nullptr);
}

TEST(Experiment, PointsComeByModelThenDevicesThenMicroBatch) {
  const auto points = points_of(*find_experiment("figure6"), {{"llama2-7b"}, {}});
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].model->name, "llama2-7b");
  EXPECT_EQ(points[0].devices, 256);
  EXPECT_EQ(points[0].micro_batch, 1);
  EXPECT_EQ(points[3].micro_batch, 8);
}

TEST(Experiment, APartOfIt) {
  EXPECT_EQ(points_of(*find_experiment("figure5"), {{"gpt3-175b", "bert-large"}, Choice(64)}).size(), 2U);
  EXPECT_TRUE(points_of(*find_experiment("figure5"), {{}, Choice(65)}).empty());
}

TEST(Experiment, EveryNameIsKnown) {
  const std::vector<std::string> models = zoo_names();
  const std::vector<std::string> clusters = cluster_names();
  for (const Experiment& e : experiments()) {
    SCOPED_TRACE(e.name);
    for (const std::string_view name : e.models) {
      EXPECT_NE(find_paper_model(name), nullptr) << name;
      EXPECT_NE(std::find(models.begin(), models.end(), name), models.end()) << name;
    }
    for (const ExperimentSweep& sweep : e.sweeps)
      EXPECT_NE(std::find(clusters.begin(), clusters.end(), sweep.cluster), clusters.end()) << sweep.cluster;
    std::set<std::string_view> seen;
    for (const std::string_view name : e.methods) {
      EXPECT_TRUE(name == "nest" || find_baseline(name) != nullptr || find_variant(name) != nullptr) << name;
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
    EXPECT_EQ(seen.count("nest"), 1U);
    EXPECT_EQ(seen.count("manual"), e.reference == Reference::nest_here ? 0U : 1U);
  }
}

TEST(Experiment, VariantsTakeKnobsAway) {
  SearchSpace space = paper_space(2);
  EXPECT_TRUE(space.micro_batch.has(2));
  EXPECT_FALSE(space.micro_batch.has(1));
  find_variant("no-knobs")->change(space);
  EXPECT_FALSE(space.zero.has(1));
  EXPECT_EQ(space.recompute.size(), 1U);
  find_variant("all-knobs")->change(space);
  EXPECT_FALSE(space.micro_batch.has(1));
  EXPECT_TRUE(space.schedules.empty());
  find_variant("any-batch")->change(space);
  EXPECT_TRUE(space.micro_batch.open());
}

}  // namespace
}  // namespace nest::report
