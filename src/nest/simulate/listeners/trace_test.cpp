#include "nest/simulate/listeners/trace.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "nest/base/document/document.hpp"
#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/test_plans.hpp"

namespace nest::simulate {
namespace {

using namespace test_plans;

std::string trace_of(const Case& c) {
  const Scenario scenario = make_scenario(c.plan, c.priced, c.inputs, {});
  Timeline timeline;
  MemoryUse memory(true);
  const std::array<Listener*, 2> listeners{&timeline, &memory};
  static_cast<void>(run_engine(scenario, listeners));
  return chrome_trace(timeline, memory);
}

std::map<std::string, int> phases(const std::string& text) {
  const Document document = parse_json("trace.json", text);
  std::map<std::string, int> count;
  for (const Value& e : *document.root.find("traceEvents")->as_array()) ++count[*e.find("ph")->as_string()];
  return count;
}

TEST(Trace, IsJsonWithTracksBoxesArrowsAndCounters) {
  const std::map<std::string, int> count = phases(trace_of(example_case()));
  EXPECT_EQ(count.at("M"), 1 + 2 * 2);   // a process, two streams for each stage
  EXPECT_EQ(count.at("X"), 16 + 8 + 2);  // passes, receives, reductions
  EXPECT_EQ(count.at("s"), 8);           // a send for each boundary, micro-batch and direction
  EXPECT_EQ(count.at("f"), 8);
  EXPECT_EQ(count.at("C"), 32);
}

// Three more tracks for each stage, and on each a box for each bucket of each stage.
TEST(Trace, AnOffloadedOptimizerHasTracksOfTheHost) {
  Case c = example_case();
  for (StageCost& s : c.priced.stages) {
    s.buckets = 4;
    s.offload = HostUpdate{Seconds{4e-3}, Seconds{8e-3}, Seconds{2e-3}, Seconds{}};
    s.optimizer = s.offload->total(s.buckets);
  }
  const std::string text = trace_of(c);
  const std::map<std::string, int> count = phases(text);
  EXPECT_EQ(count.at("M"), 1 + 2 * 5);
  EXPECT_EQ(count.at("X"), 16 + 8 + 2 + 2 * 3 * 4);
  EXPECT_NE(text.find(R"("tid": 4, "args": {"name": "stage 0 copies to the host"})"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("tid": 9, "args": {"name": "stage 1 copies from the host"})"), std::string::npos);
  EXPECT_NE(text.find(R"({"name": "host update", "cat": "host update", "ph": "X", "pid": 0, "tid": 5)"),
            std::string::npos);
}

TEST(Trace, NamesPasses) {
  const std::string text = trace_of(example_case());
  EXPECT_NE(
      text.find(
          R"({"name": "F0", "cat": "forward", "ph": "X", "pid": 0, "tid": 0, "ts": 0.000, "dur": 3000.000})"),
      std::string::npos)
      << text.substr(0, 1500);
  EXPECT_NE(text.find("copy 0 (and 1 alike)"), std::string::npos);
}

TEST(Trace, InterleavedArrowsGoRoundTheEnd) {
  std::mt19937 random(5);
  Case c = random_case(random, {.schedule = Schedule::interleaved});
  while (c.plan.parallelism.pipeline < 2 || c.priced.stages[0].chunks[1].forward_bytes.value == 0) {
    c = random_case(random, {.schedule = Schedule::interleaved});
  }
  const std::map<std::string, int> count = phases(trace_of(c));
  EXPECT_EQ(count.at("s"), count.at("f"));
  EXPECT_GE(count.at("s"), 2 * c.plan.training.micro_batches *
                               (c.plan.parallelism.pipeline * c.plan.parallelism.interleave - 1));
}

// Down the stages and back up: the last stage sends itself nothing.
TEST(Trace, ArrowsOfZeroBubbleVTurnAtTheLastStage) {
  std::mt19937 random(6);
  const Case c = random_case(random, {.schedule = Schedule::zb_v});
  const std::map<std::string, int> count = phases(trace_of(c));
  EXPECT_EQ(count.at("s"), count.at("f"));
  const std::int64_t one_copy = 4 * c.plan.training.micro_batches * (c.plan.parallelism.pipeline - 1);
  EXPECT_GT(count.at("s"), 0);
  EXPECT_EQ(count.at("s") % one_copy, 0);
}

// Passes beside each other have slices of their own, and each its message.
TEST(Trace, PairsAreTwoSlices) {
  std::mt19937 random(7);
  const Case c = random_case(random, {.schedule = Schedule::dualpipe_v});
  const std::string text = trace_of(c);
  const std::map<std::string, int> count = phases(text);
  EXPECT_EQ(count.at("s"), count.at("f"));
  const std::int64_t one_copy = 4 * c.plan.training.micro_batches * (c.plan.parallelism.pipeline - 1);
  EXPECT_GT(count.at("s"), 0);
  EXPECT_EQ(count.at("s") % one_copy, 0);
}

}  // namespace
}  // namespace nest::simulate
