#include "nest/simulate/listeners/gantt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

std::string chart(const Case& c, const GanttOptions& options = {}) {
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  Timeline timeline;
  const std::array<Listener*, 1> listeners{&timeline};
  static_cast<void>(run_engine(scenario, listeners));
  return gantt_svg(timeline, options);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Gantt, HasARowForEachStageAndABoxForEachPass) {
  const std::string svg = chart(example_case(), {.width = 4000});
  EXPECT_NE(svg.find(">stage 0<"), std::string::npos);
  EXPECT_NE(svg.find(">stage 1<"), std::string::npos);
  EXPECT_EQ(count(svg, "<title>forward, micro-batch"), 8U);
  EXPECT_EQ(count(svg, "<title>backward, micro-batch"), 8U);
  EXPECT_EQ(count(svg, "<title>receive before"), 8U);
  EXPECT_EQ(count(svg, ">...<"), 0U);
  EXPECT_NE(svg.find("forward, micro-batch 0: 0 s to 3 ms"), std::string::npos);
}

// Two passes beside each other share a row: the forward pass has its upper half.
TEST(Gantt, PassesBesideEachOtherShareARow) {
  std::mt19937 random(7);
  Case c = random_case(random, {.schedule = Schedule::dualpipe_v});
  while (c.plan.parallelism.pipeline != 2) c = random_case(random, {.schedule = Schedule::dualpipe_v});
  c.plan.training.micro_batches = 4;
  for (StageCost& s : c.priced.stages) {
    for (ChunkCost& chunk : s.chunks) chunk.recompute = Seconds{1e-4};
  }
  price_step(c);
  const std::string svg = chart(c, {.width = 8000});
  // Each stage has a pair of Fa and two of Fb.
  EXPECT_EQ(count(svg, ", beside a backward pass"), 6U);
  EXPECT_EQ(count(svg, ", beside a forward pass"), 6U);
  EXPECT_EQ(count(svg, "height=\"11\"><title>forward"), 6U);
  EXPECT_EQ(count(svg, "height=\"11\"><title>backward"), 6U);
  EXPECT_EQ(count(svg, "height=\"11\"><title>computed again"), 6U);
  EXPECT_EQ(count(svg, "height=\"22\"><title>forward"), 16U - 6U);
}

TEST(Gantt, LongStepsShowTheirBeginningAndTheirEnd) {
  Case c = example_case();
  c.plan.training.micro_batches = 1000;
  price_step(c);
  const std::string svg = chart(c);
  EXPECT_EQ(count(svg, ">...<"), 1U);
  EXPECT_NE(svg.find("forward, micro-batch 0:"), std::string::npos);
  EXPECT_NE(svg.find("backward, micro-batch 999:"), std::string::npos);
  EXPECT_EQ(svg.find("forward, micro-batch 500:"), std::string::npos);
}

// Micro-batches of milliseconds after a second and more: three digits would say "8 s" at every tick.
TEST(Gantt, TicksOfALateWindowDiffer) {
  Case c = example_case();
  c.plan.training.micro_batches = 1000;
  price_step(c);
  const std::string svg = chart(c);
  std::vector<std::string> ticks;
  const std::string begin = "text-anchor=\"middle\">";
  for (std::size_t at = svg.find("class=\"small\""); at != std::string::npos;
       at = svg.find("class=\"small\"", at + 1)) {
    const std::size_t from = svg.find(begin, at) + begin.size();
    ticks.push_back(svg.substr(from, svg.find('<', from) - from));
  }
  ASSERT_GE(ticks.size(), 4U);
  EXPECT_EQ(ticks.front(), "0 ms");
  EXPECT_EQ(std::set<std::string>(ticks.begin(), ticks.end()).size(), ticks.size());
}

TEST(Gantt, NumbersStandBesideWhatIsComputedAgain) {
  Case c = example_case();
  c.priced.stages[0].chunks[0].recompute = Seconds{3e-3};
  const std::string svg = chart(c, {.width = 4000});
  const auto number = [&](const char* key, std::size_t from) {
    return std::stod(svg.substr(svg.find(key, from) + std::string(key).size()));
  };
  const std::size_t again = svg.rfind("<rect", svg.find("computed again"));
  const double end = number(" x=\"", again) + number("width=\"", again);
  EXPECT_GT(number(" x=\"", svg.find("<text", again)), end);
}

TEST(Gantt, ShowsWhatIsComputedAgain) {
  Case c = example_case();
  EXPECT_EQ(chart(c).find("recompute"), std::string::npos);
  c.priced.stages[0].chunks[0].recompute = Seconds{3e-3};
  EXPECT_NE(chart(c).find(">recompute<"), std::string::npos);
}

}  // namespace
}  // namespace nest::simulate
