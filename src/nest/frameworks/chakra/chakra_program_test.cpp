#include "nest/frameworks/chakra/chakra_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest::frameworks {
namespace {

using testing::ElementsAre;

// A plan by hand: cells of two tensor ranks, one all-reduce in every pass, one reduction at the end.
struct Hand {
  Plan plan;
  PricedPlan priced;
  std::vector<ChakraStage> stages;

  Hand(std::size_t pipeline, std::size_t copies, Schedule schedule, std::int64_t micro_batches,
       std::int64_t chunks = 1) {
    plan.parallelism.pipeline = static_cast<std::int64_t>(pipeline);
    plan.parallelism.schedule = schedule;
    plan.parallelism.interleave = chunks;
    plan.training.micro_batches = micro_batches;
    plan.stages.resize(pipeline);
    priced.stages.resize(pipeline);
    stages.resize(pipeline);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < pipeline; ++i) {
      plan.stages[i].strategy.tensor = 2;
      for (std::size_t c = 0; c < copies; ++c, next += 2)
        plan.stages[i].devices.push_back({DeviceId{next}, DeviceId{next + 1}});
      ChakraPass pass{{Seconds{2.5e-6}, 100, 10}, {{ChakraCollective::all_reduce, {1, 2}, "tensor", 64, 0}}};
      const ChakraPass weight{{Seconds{1e-6}, 50, 5}, {}};
      for (std::int64_t c = 0; c < chunks; ++c) {
        stages[i].chunks.push_back({pass, pass, weight});
        priced.stages[i].chunks.emplace_back();
        priced.stages[i].chunks.back().forward_bytes = Bytes{1000};
        priced.stages[i].chunks.back().backward_bytes = Bytes{2000};
      }
      stages[i].reduces.push_back(
          {ChakraCollective::all_reduce, {.step = StepCollective::Group::dense}, "gradients", 80, 0.5});
    }
    places_.resize(static_cast<std::size_t>(next));
    for (std::int32_t d = 0; d < next; ++d) places_[static_cast<std::size_t>(d)] = d;
  }

  [[nodiscard]] std::vector<ProgramNode> program(std::size_t stage, std::int64_t slices = 1) const {
    ChakraGroups groups(plan, places_, 1000, {});
    return stage_program({plan, priced, stages, groups, {.slices = slices}, {}}, stage);
  }

 private:
  std::vector<std::int32_t> places_;
};

// "3 F0 tensor <2": id, name, what it waits for.
std::vector<std::string> lines(const std::vector<ProgramNode>& program) {
  std::vector<std::string> out;
  for (const ProgramNode& p : program) {
    std::string deps;
    for (const std::uint64_t d : p.node.deps) deps += fmt::format(" <{}", d);
    out.push_back(fmt::format("{} {}{}", p.node.id, p.node.name, deps));
  }
  return out;
}

// Every compute node waits for the task before it, every collective and send for the one before it; half of
// the gradients' reduction runs beside the last backward pass.
TEST(ChakraProgram, OneStage) {
  EXPECT_THAT(lines(Hand(1, 2, Schedule::one_f_one_b, 2).program(0)),
              ElementsAre("1 F0", "2 F0 tensor <1", "3 B0 <1 <2", "4 B0 tensor <3 <2", "5 F1 <3 <4",
                          "6 F1 tensor <5 <4", "7 B1 gradients <5 <6", "8 B1 <5 <6", "9 B1 tensor <8 <7",
                          "10 gradients <8 <9", "11 norm <8 <9 <10", "12 optimizer <11"));
}

TEST(ChakraProgram, FirstOfTwoStages) {
  EXPECT_THAT(lines(Hand(2, 1, Schedule::one_f_one_b, 2).program(0)),
              ElementsAre("1 F0", "2 F0 tensor <1", "3 F0 send <1 <2", "4 F1 <1 <2", "5 F1 tensor <4 <3",
                          "6 F1 send <4 <5", "7 B0 receive <4 <5", "8 B0 <4 <5 <7", "9 B0 tensor <8 <6",
                          "10 B1 receive <8 <9", "11 B1 <8 <9 <10", "12 B1 tensor <11 <9", "13 norm <11 <12",
                          "14 norm <13", "15 norm back <14 <12", "16 optimizer <15"));
}

// Whole microseconds of passes of 2.5: the halves are not lost.
TEST(ChakraProgram, RoundingDoesNotAddUp) {
  std::vector<std::int64_t> micros;
  std::int64_t sum = 0;
  for (const ProgramNode& p : Hand(1, 1, Schedule::gpipe, 4).program(0)) {
    if (p.node.type != ChakraType::compute) continue;
    sum += p.node.micros;
    if (p.node.name[0] == 'F') micros.push_back(p.node.micros);
  }
  EXPECT_THAT(micros, ElementsAre(3, 2, 3, 2));
  EXPECT_EQ(sum, 20);
}

TEST(ChakraProgram, SlicesShareAPass) {
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::size_t collectives = 0;
  for (const ProgramNode& p : Hand(1, 1, Schedule::gpipe, 1).program(0, 4)) {
    if (p.node.name == "F0") operations += p.node.operations;
    if (p.node.name != "F0 tensor") continue;
    bytes += p.node.bytes;
    ++collectives;
  }
  EXPECT_EQ(operations, 100);
  EXPECT_EQ(bytes, 64);
  EXPECT_EQ(collectives, 4U);
}

// A message has one tag for both ends: micro-batch, boundary and direction.
TEST(ChakraProgram, TagsOfChunks) {
  const Hand hand(2, 1, Schedule::interleaved, 2, 2);
  std::map<std::int32_t, std::vector<ChakraType>> ends;
  for (const std::size_t stage : {0U, 1U}) {
    for (const ProgramNode& p : hand.program(stage)) {
      if (p.node.type != ChakraType::send && p.node.type != ChakraType::receive) continue;
      EXPECT_EQ(p.peer, 1 - stage);
      EXPECT_LE(p.node.tag, highest_tag(hand.plan));
      ends[p.node.tag].push_back(p.node.type);
    }
  }
  EXPECT_EQ(ends.size(), 3U * 2 * 2 + 2);  // boundaries, micro-batches, directions; and the norm
  for (auto& [tag, types] : ends)
    EXPECT_THAT(types, testing::UnorderedElementsAre(ChakraType::send, ChakraType::receive)) << tag;
}

TEST(ChakraProgram, ZeroBubbleHasWeightPasses) {
  std::vector<std::string> computed;
  for (const ProgramNode& p : Hand(2, 1, Schedule::zb_h1, 2).program(1)) {
    if (p.node.type == ChakraType::compute) computed.push_back(p.node.name);
  }
  EXPECT_THAT(computed, ElementsAre("F0", "B0", "F1", "B1", "W0", "W1", "norm", "optimizer"));
}

std::vector<std::int64_t> bytes_of(const Hand& hand, const std::string& name) {
  std::vector<std::int64_t> bytes;
  for (const ProgramNode& p : hand.program(0)) {
    if (p.node.name == name) bytes.push_back(p.node.bytes);
  }
  return bytes;
}

// What rounding leaves of a hidden share is no collective of its own: one of fewer bytes than members hangs.
TEST(ChakraProgram, SharesOfNothingAreNotWritten) {
  Hand hand(1, 1, Schedule::gpipe, 1);
  ChakraSum& sum = hand.stages[0].chunks[0].forward.collectives[0];
  sum.hidden = 1e-16;
  EXPECT_THAT(bytes_of(hand, "F0 tensor"), ElementsAre(64));
  sum.hidden = 0.001;
  EXPECT_THAT(bytes_of(hand, "F0 tensor"), ElementsAre(2, 64));
}

// 5 GB in 4 calls, and in one: three of less than 2 GiB.
TEST(ChakraProgram, OneCollectiveForEachCallBelowTwoGibibytes) {
  Hand hand(1, 1, Schedule::gpipe, 1);
  ChakraSum& sum = hand.stages[0].chunks[0].forward.collectives[0];
  sum.bytes = 5e9;
  sum.calls = 4;
  EXPECT_THAT(bytes_of(hand, "F0 tensor"), ElementsAre(1250000000, 1250000000, 1250000000, 1250000000));
  sum.calls = 1;
  EXPECT_THAT(bytes_of(hand, "F0 tensor"), ElementsAre(1666666667, 1666666667, 1666666667));
}

// The simulator's roofline stops at compute of no time.
TEST(ChakraProgram, ComputeReadsSomeMemory) {
  Hand hand(1, 1, Schedule::gpipe, 1);
  ChakraGroups groups(hand.plan, {0, 1}, 1000, {});
  for (const ProgramNode& p :
       stage_program({hand.plan, hand.priced, hand.stages, groups, {.least_tensor_bytes = 6700}, {}}, 0)) {
    if (p.node.type != ChakraType::compute) continue;
    EXPECT_GE(p.node.tensor_bytes, 6700) << p.node.name;
  }
}

// Each rank of an all-gather brings its part.
TEST(ChakraProgram, AllGathersAreQuotedByPart) {
  Hand hand(1, 1, Schedule::gpipe, 1);
  hand.stages[0].chunks[0].forward.collectives = {{ChakraCollective::all_gather, {1, 2}, "tensor", 64, 0.25}};
  std::vector<std::int64_t> bytes;
  for (const ProgramNode& p : hand.program(0)) {
    if (p.node.name == "F0 tensor") bytes.push_back(p.node.bytes);
  }
  EXPECT_THAT(bytes, ElementsAre(8, 24));
}

}  // namespace
}  // namespace nest::frameworks
