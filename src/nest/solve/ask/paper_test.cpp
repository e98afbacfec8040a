// The NEST paper's instances. The search finds what an independent dynamic program finds, and the degrees
// that the paper's artifact chose are never better than the plan it finds. With NEST_PAPER_TABLE=1, a table
// shows how these degrees compare.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "nest/base/drawing/table.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/test_paper.hpp"
#include "nest/solve/ask/test_paper_program.hpp"

namespace nest::solve {
namespace {

SearchResult find_plan(const PlanInputs& inputs, std::int64_t batch, const SearchSpace& space) {
  SearchOptions options;
  options.pipeline_model = PipelineModel::paper;
  options.threads = 1;
  return ask({inputs, test::paper_training(inputs, batch), space, options});
}

// Stages are ranges of layers, so that suffixes of the layers are all downsets.
bool is_chain(const LayerProfile& profile) {
  const ProfileStrategy& first = profile.strategies.front();
  for (std::int32_t i = 1; i < static_cast<std::int32_t>(first.layers.size()); ++i) {
    const auto before = [&](const Edge& e) { return e.from.value == i - 1 && e.to.value == i; };
    if (std::none_of(first.edges.begin(), first.edges.end(), before)) return false;
  }
  return profile.shared.empty();
}

std::string degrees(std::int64_t stages, std::int64_t copies, std::int64_t tensor) {
  return std::to_string(stages) + " / " + std::to_string(copies) + " / " + std::to_string(tensor);
}

std::string degrees(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  return degrees(p.pipeline, p.copies(), p.strategy.tensor);
}

// What the search and the program make of an instance.
void compare(const std::string& profile, std::int64_t devices, double slower) {
  const PlanInputs inputs = test::paper_inputs(profile, devices, slower);
  ASSERT_TRUE(is_chain(*inputs.profile()));
  const SearchResult found = find_plan(inputs, test::kPaperBatch, test::paper_space());
  ASSERT_NE(found.status, PlanStatus::disagreement) << found.reason;
  test::PaperProgram program(inputs, test::paper_training(inputs, test::kPaperBatch));
  const std::optional<Plan> best = program.run();
  ASSERT_EQ(found.status, best ? PlanStatus::optimal : PlanStatus::infeasible) << found.reason;
  if (!best) return;
  const double step = found.plans.front().predicted->step.value;
  EXPECT_NEAR(step, program.step(), 1e-9 * step)
      << "the search " << degrees(found.plans.front()) << ", the program " << degrees(*best);
  // The program means what the price means.
  Pricer pricer(inputs, {.pipeline_model = PipelineModel::paper});
  const PricedPlan priced = pricer.price(*best);
  EXPECT_EQ(priced.status, PriceStatus::feasible) << priced.reason;
  EXPECT_NEAR(priced.predicted.step.value, program.step(), 1e-9 * step);
}

class Paper : public ::testing::TestWithParam<std::string> {
 protected:
  static void compare_all(double slower, std::int64_t most_devices) {
    for (const std::int64_t devices : test::kPaperDevices) {
      if (devices > most_devices) break;
      SCOPED_TRACE(std::to_string(devices) + " devices");
      compare(GetParam(), devices, slower);
    }
  }
};

TEST_P(Paper, AnIndependentProgramFindsNoBetterPlan) {
  compare_all(1, 1024);
}

// Where the network counts, placements and boundaries do.
TEST_P(Paper, NorOnANetworkAThousandTimesSlower) {
  compare_all(1000, 256);
}

std::string profile_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Profiles, Paper, ::testing::ValuesIn(test::paper_profiles()), profile_name);

// The artifact's copies run ceil(micro-batches / copies) each, also where that is more than there are. Plans
// here have whole numbers of micro-batches, as frameworks demand: where its copies do not divide the batch,
// both get the next larger batch that they divide.
int compare_degrees(const std::filesystem::path& folder) {
  Table table({{"instance"},
               {"batch", Table::Align::right},
               {"artifact: p / q / t", Table::Align::right},
               {"step", Table::Align::right},
               {"search: p / q / t", Table::Align::right},
               {"step", Table::Align::right},
               {"gain", Table::Align::right}});
  int rows = 0;
  for (const test::ArtifactRow& row : test::artifact_rows(folder)) {
    SCOPED_TRACE(row.profile + " on " + std::to_string(row.devices));
    const PlanInputs inputs = test::paper_inputs(row.profile, row.devices);
    const ProfileStrategy& first = inputs.profile()->strategies.front();
    const std::int64_t side = first.expert;  // these cells are as wide as their experts, or have none
    const std::int64_t together = inputs.profile()->micro_batch * side * row.copies;
    const std::int64_t batch = (test::kPaperBatch + together - 1) / together * together;
    SearchSpace pinned = test::paper_space();
    pinned.pipeline = Choice(row.stages);
    pinned.data = Choice(row.copies * side);
    pinned.tensor = Choice(row.tensor);
    const SearchResult theirs = find_plan(inputs, batch, pinned);
    const SearchResult ours = find_plan(inputs, batch, test::paper_space());
    EXPECT_EQ(ours.status, PlanStatus::optimal) << ours.reason;
    if (ours.plans.empty()) continue;
    const double own = ours.plans.front().predicted->step.value;
    std::string their_step = "does not fit";
    std::string gain;
    if (!theirs.plans.empty()) {
      const double other = theirs.plans.front().predicted->step.value;
      EXPECT_LE(own, other * (1 + 1e-9));
      their_step = format(Seconds{other});
      gain = std::to_string(other / own).substr(0, 6);
    }
    table.add({row.profile + " " + std::to_string(row.devices), std::to_string(batch),
               degrees(row.stages, row.copies, row.tensor), their_step, degrees(ours.plans.front()),
               format(Seconds{own}), gain});
    ++rows;
  }
  if (std::getenv("NEST_PAPER_TABLE") != nullptr) std::cout << table.str(140);
  return rows;
}

TEST(PaperArtifact, DegreesOfASmallTableAreNeverBetter) {
  EXPECT_EQ(compare_degrees(test::small_paper_folder()), 6);
}

TEST(PaperArtifact, ItsDegreesAreNeverBetter) {
  if (!test::has_paper_folder()) GTEST_SKIP() << "the large table is absent; the small one is read above";
  EXPECT_GE(compare_degrees(test::paper_folder()), 50);
}

}  // namespace
}  // namespace nest::solve
