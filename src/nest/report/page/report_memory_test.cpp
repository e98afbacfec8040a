#include "nest/report/page/report_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nest/plan/test_example.hpp"
#include "nest/simulate/simulate.hpp"

namespace nest::report {
namespace {

struct HeldRun {
  MemoryUse memory{true};
  Seconds step;
};

void simulate_into(HeldRun& run) {
  Pricer pricer(test::example_inputs());
  const Plan placed = pricer.place(test::example_plan({{0, 1}, {2}}, 2, 2));
  const PricedPlan priced = pricer.price(placed);
  std::array<Listener*, 1> listeners{&run.memory};
  run.step = run_simulation(placed, priced, pricer.inputs(), {}, listeners).step;
}

std::vector<std::int64_t> held_row(const Value& v, std::size_t i) {
  std::vector<std::int64_t> out;
  for (const Value& n : *(*v.find("rows")->as_array())[i].as_array()) out.push_back(*n.as_int());
  return out;
}

std::int64_t most_held(const std::vector<std::int64_t>& row) {
  std::int64_t out = 0;
  for (std::size_t i = 1; i < row.size(); i += 2) out = std::max(out, row[i]);
  return out;
}

TEST(ReportMemory, BeginsAndEndsWithWhatIsAlwaysHeldAndReachesThePeak) {
  HeldRun run;
  simulate_into(run);
  const Value v = memory_value(run.memory, run.step, 1000);
  ASSERT_EQ(v.find("rows")->as_array()->size(), 2U);
  EXPECT_EQ(v.find("pieces"), nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<std::int64_t> one = held_row(v, i);
    ASSERT_EQ(one.size() % 2, 0U);
    EXPECT_EQ(one[0], 0);
    EXPECT_EQ(one[1], one.back());
    EXPECT_NEAR(static_cast<double>(most_held(one)),
                static_cast<double>(run.memory.peak(i).value) / (1 << 20), 0.5);
    for (std::size_t k = 2; k < one.size(); k += 2) EXPECT_GE(one[k], one[k - 2]);
  }
}

TEST(ReportMemory, PiecesOfLongStepsKeepThePeak) {
  HeldRun run;
  simulate_into(run);
  const Value v = memory_value(run.memory, run.step, 5);
  EXPECT_TRUE(*v.find("pieces")->as_bool());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LE(held_row(v, i).size(), 12U);
    EXPECT_EQ(most_held(held_row(v, i)), most_held(held_row(memory_value(run.memory, run.step, 1000), i)));
  }
}

}  // namespace
}  // namespace nest::report
