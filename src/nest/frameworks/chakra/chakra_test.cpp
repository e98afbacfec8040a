#include "nest/frameworks/chakra/chakra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nest/cluster/resize.hpp"
#include "nest/frameworks/chakra/test_chakra_replay.hpp"
#include "nest/price/price.hpp"

namespace nest::frameworks {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Case {
  std::string model;
  std::string recipe;
  Strategy strategy;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t zero = 0;
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t interleave = 1;
};

ExportQuestion question_of(const Case& c, std::int64_t devices) {
  Warnings warnings;
  PlanInputs inputs = load_inputs(c.model, "h100-spine-leaf", c.recipe, warnings);
  inputs.cluster = with_devices(inputs.cluster, devices);
  Plan plan;
  plan.parallelism.strategy = c.strategy;
  plan.parallelism.pipeline = c.pipeline;
  plan.parallelism.data = c.data;
  plan.parallelism.zero = c.zero;
  plan.parallelism.schedule = c.schedule;
  plan.parallelism.interleave = c.interleave;
  plan.training.sequence = 4096;
  plan.training.micro_batches = 8;
  plan.training.global_batch = 8 * c.data;
  Pricer pricer(inputs);
  return {pricer.place(pricer.complete(std::move(plan))), std::move(inputs), {}};
}

test::ReadExport exported(const ExportQuestion& question) {
  return test::read_export([&](const ExportSink& sink) { return write_chakra(question, sink); });
}

const Case kDense{"llama3.2-1b", "megatron", {.tensor = 2, .sequence_parallel = true}, 2, 4, 1};

TEST(Chakra, RealPlansOfAllKinds) {
  const std::vector<Case> cases{
      kDense,
      {"llama3.2-1b", "torchtitan", {.tensor = 2, .sequence_parallel = true}, 1, 8, 3},
      {"llama3.2-1b", "deepspeed", {}, 2, 8, 2},
      {"llama3.2-1b", "plain", {.context = 4}, 2, 2, 0, Schedule::gpipe},
      {"llama3.2-1b",
       "megatron",
       {.context = 4, .context_method = ContextMethod::hybrid, .context_inner = 2},
       2,
       2,
       1},
      {"llama3.2-1b",
       "megatron",
       {.context = 2, .context_method = ContextMethod::all_to_all},
       4,
       2,
       1,
       Schedule::interleaved,
       2},
      {"llama3.2-1b", "megatron", {.tensor = 2, .sequence_parallel = true}, 4, 2, 1, Schedule::zb_h1},
      {"mixtral-8x7b", "megatron", {.expert = 4}, 2, 8, 1},
      {"mixtral-8x7b",
       "megatron",
       {.tensor = 2, .sequence_parallel = true, .expert = 8, .expert_tensor = 1},
       1,
       8,
       1},
      {"t5-large", "megatron", {.tensor = 2, .sequence_parallel = true}, 2, 4, 1},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const ExportQuestion question = question_of(cases[i], 16);
    const test::ReadExport out = exported(question);
    ASSERT_EQ(out.result.rule, "") << out.result.sentence;
    ASSERT_EQ(out.ranks.size(), 16U);
    test::check_export(out);
    const auto took = test::Replay(out, {}).run();
    ASSERT_TRUE(took);
    Pricer pricer(question.inputs);
    // Without a network, the traces take less than the price.
    EXPECT_LT(*took, pricer.price(question.plan).predicted.step.value);
  }
}

// Traces of fine-tuning are whole, end, and take no longer than priced. Before the first block that is trained there is
// neither a backward pass nor a message back.
TEST(Chakra, FineTuning) {
  const Case dense{"llama3.2-1b", "plain", {.tensor = 2, .sequence_parallel = true}, 4, 2, 1};
  Case zero_bubble = dense;
  zero_bubble.schedule = Schedule::zb_h1;
  const Case chunks{"llama3.2-1b", "plain", {}, 4, 2, 1, Schedule::interleaved, 2};
  const Case experts{"mixtral-8x7b", "megatron", {.expert = 4}, 2, 8, 1};
  const Case sharded{"llama3.2-1b", "torchtitan", {.tensor = 2, .sequence_parallel = true}, 1, 8, 3};
  for (const Case& c : {dense, zero_bubble, chunks, experts, sharded}) {
    for (const char* train : {"lora:16", "layers 12..", "layers ..3"}) {
      SCOPED_TRACE(c.model + " " + train);
      ExportQuestion question = question_of(c, 16);
      ASSERT_EQ(read_train(train, question.plan.training.tuning), "");
      ASSERT_EQ(read_frozen_bits("4", question.plan.training.tuning), "");
      const test::ReadExport out = exported(question);
      ASSERT_EQ(out.result.rule, "") << out.result.sentence;
      test::check_export(out);
      const auto took = test::Replay(out, {}).run();
      ASSERT_TRUE(took);
      Pricer pricer(question.inputs);
      // The price of stages that differ much is a lower bound.
      EXPECT_LT(*took, 1.02 * pricer.price(question.plan).predicted.step.value);
    }
  }
  ExportQuestion question = question_of(dense, 16);
  ASSERT_EQ(read_train("layers 12..", question.plan.training.tuning), "");
  const test::ReadExport out = exported(question);
  EXPECT_THAT(out.files.at("README.md"), HasSubstr(" in the pipeline; trained: layers 12...\n"));
  int first = 0;
  int last = 0;
  for (const test::ReadTrace& trace : out.ranks) {
    const auto back =
        std::ranges::count_if(trace.nodes, [](const ChakraNode& n) { return n.name.starts_with("B"); });
    (trace.nodes.back().name == "optimizer" && back == 0 ? first : last) += 1;
  }
  EXPECT_EQ(first, 12);  // the ranks of three of four stages
  EXPECT_EQ(last, 4);
}

TEST(Chakra, WritesWhatTheSimulatorNeeds) {
  const test::ReadExport out = exported(question_of(kDense, 16));
  for (const char* name :
       {"comm_groups.json", "system.json", "network.yml", "remote_memory.json", "README.md",
        "network_flat.yml", "system_flat.json", "system_roofline.json", "trace.0.et", "trace.15.et"})
    EXPECT_TRUE(out.files.contains(name)) << name;
  // 450 GB/s at 82 % and 50 GB/s at 95 %, in GiB; half of 4.4 us and 19 us for each hop.
  EXPECT_EQ(out.files.at("network.yml"),
            "topology: [ Switch, Switch ]\nnpus_count: [ 8, 2 ]\nbandwidth: [ 352.04, 44.2378 ]  # GiB/s\n"
            "latency: [ 2200, 9500 ]  # ns\n");
  EXPECT_EQ(out.files.at("remote_memory.json"), "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n");
  EXPECT_THAT(out.files.at("README.md"), HasSubstr("--comm-group-configuration=comm_groups.json"));
  ASSERT_EQ(out.result.next.size(), 1U);
  EXPECT_THAT(out.result.next[0], HasSubstr("--workload-configuration=trace "));
}

// Devices that the plan does not use are there all the same.
TEST(Chakra, IdleDevicesHaveATraceOfNothing) {
  Case c = kDense;
  c.data = 2;
  const test::ReadExport out = exported(question_of(c, 16));
  ASSERT_EQ(out.ranks.size(), 16U);
  int idle = 0;
  for (const test::ReadTrace& trace : out.ranks) idle += trace.nodes.front().name == "idle" ? 1 : 0;
  EXPECT_EQ(idle, 8);
  EXPECT_THAT(out.files.at("README.md"), HasSubstr("16 NPUs (8 idle)"));
}

TEST(Chakra, SameQuestionSameBytes) {
  EXPECT_EQ(exported(question_of(kDense, 16)).files, exported(question_of(kDense, 16)).files);
}

TEST(Chakra, SaysWhatIsLost) {
  ExportQuestion question = question_of(kDense, 16);
  question.inputs.recipe.gather_by_broadcast = true;
  const std::vector<std::string> lost = exported(question).result.lost;
  EXPECT_THAT(lost, Contains(HasSubstr("that of its slowest level")));
  EXPECT_THAT(lost, Contains(HasSubstr("not by a broadcast from each rank")));
  EXPECT_THAT(lost, Contains(HasSubstr("a message is sent as soon as its sender is done")));
}

TEST(Chakra, RefusesWhatTagsCannotHold) {
  ExportQuestion question = question_of(kDense, 16);
  question.plan.training.micro_batches = 200'000'000;
  question.plan.training.global_batch = 4 * question.plan.training.micro_batches;
  int files = 0;
  const ExportResult result = write_chakra(question, [&](const ExportFile&) { ++files; });
  EXPECT_EQ(result.rule, "message tags below 500,000,000");
  EXPECT_EQ(result.sentence,
            "the plan's messages need 800000002: 200000000 micro-batches, 2 stages of 1 chunks");
  EXPECT_EQ(files, 0);
}

TEST(Chakra, RefusesWhatHasNoPrice) {
  ExportQuestion question = question_of(kDense, 16);
  question.plan.training.global_batch = 7;
  const ExportResult result = write_chakra(question, [](const ExportFile&) {});
  EXPECT_EQ(result.rule, "a plan that can be priced");
  EXPECT_EQ(result.sentence, "the global batch 7 is no multiple of micro-batch 1 x data 4");
}

}  // namespace
}  // namespace nest::frameworks
