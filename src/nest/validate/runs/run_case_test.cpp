#include "nest/validate/runs/run_case.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/base/files.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

TEST(RunCase, DegreesBatchesAndPlacement) {
  const RunCase c = run_case(made_up_run());
  ASSERT_TRUE(c.run) << c.why_not;
  const Parallelism& p = c.run->plan.parallelism;
  EXPECT_EQ(p.devices(), 16);
  EXPECT_EQ(p.data_inner, 4);
  EXPECT_TRUE(p.strategy.sequence_parallel);
  EXPECT_EQ(c.run->plan.training.micro_batches, 8);  // 64 / (2 * 4)
  EXPECT_EQ(p.schedule, Schedule::one_f_one_b);
  EXPECT_TRUE(c.run->plan.stages.empty());
}

TEST(RunCase, ExpertGroupsLieInsideTheDataGroups) {
  RunRow row = made_up_run();
  row.experts = 8;
  row.top_k = 2;
  row.expert_ffn = 1024;
  row.expert = 8;
  row.pipeline = 1;
  row.data = 8;
  row.global_batch = 32;
  const RunCase c = run_case(row);
  ASSERT_TRUE(c.run) << c.why_not;
  EXPECT_EQ(c.run->plan.parallelism.strategy.cell(), 8);
  EXPECT_EQ(c.run->plan.parallelism.copies(), 2);
}

TEST(RunCase, InterleavedRowsAndSplitsWithTheEnds) {
  RunRow row = made_up_run();
  row.interleave = 2;
  EXPECT_EQ(run_case(row).run->plan.parallelism.schedule, Schedule::interleaved);
  EXPECT_FALSE(run_case(row).run->plan.split.embedding_slot);
  row.layers = 10;  // 12 with embedding and loss: 3 in each of 4 chunks
  EXPECT_TRUE(run_case(row).run->plan.split.embedding_slot);
}

// Four sequences a device, two devices a data rank: one micro-batch of eight on each of the eight.
TEST(RunCase, MaxTextCountsItsBatchPerDevice) {
  RunRow row = made_up_run();
  row.framework = "maxtext";
  row.pipeline = 1;
  row.data = 8;
  row.micro_batch = 4;
  const RunCase c = run_case(row);
  ASSERT_TRUE(c.run) << c.why_not;
  EXPECT_EQ(c.run->plan.training.micro_batch, 8);
  EXPECT_EQ(c.run->plan.training.micro_batches, 1);
}

TEST(RunCase, RecomputationInOurWords) {
  RunRow row = made_up_run();
  const auto policy = [&] { return run_case(row).run->plan.default_recompute; };
  row.recompute_policy = "selective";
  EXPECT_EQ(policy().policy, RecomputePolicy::selective);
  row.notes = "x; recompute moe_act,layernorm";
  EXPECT_EQ(policy().policy, RecomputePolicy::modules);
  EXPECT_TRUE(policy().modules == (RecomputeModules{RecomputeModule::moe_act, RecomputeModule::layernorm}));
  row.framework = "torchtitan";  // its per-operator policy
  row.notes = "";
  EXPECT_EQ(policy().policy, RecomputePolicy::selective);
  EXPECT_EQ(run_case(row).run->inputs.recipe.selective_recompute, SelectiveRecompute::operators);
  row = made_up_run();
  row.recompute_policy = "other";
  row.recompute = "save dots";
  EXPECT_EQ(run_case(row).why_not, "a recomputation policy that is not modelled: save dots");
}

TEST(RunCase, MicroBatchesOfFsdpMayBeParts) {
  RunRow row = made_up_run();
  row.pipeline = 1;
  row.data = 8;
  row.framework = "torchtitan";
  row.micro_batch = 0.5;  // of a device; two tensor ranks share one sequence
  const RunCase half = run_case(row);
  ASSERT_TRUE(half.run) << half.why_not;
  EXPECT_EQ(half.run->plan.training.micro_batch, 1);
  EXPECT_EQ(half.run->plan.training.micro_batches, 8);
  row.micro_batch = 3;  // 64 sequences of 8 ranks: two micro-batches of 3, and one of 2
  const RunCase rest = run_case(row);
  ASSERT_TRUE(rest.run) << rest.why_not;
  EXPECT_EQ(rest.run->plan.training.micro_batches, 3);
  EXPECT_NEAR(rest.run->last_share, 2.0 / 3, 1e-12);
}

// Of MaxText's own policies: what comes into a layer lies in host memory, and all of the layer runs again.
TEST(RunCase, OffloadedInputsOfLayersAreFullRecomputationWithActivationsInHostMemory) {
  RunRow row = made_up_run();
  row.framework = "maxtext";
  row.pipeline = 1;
  row.data = 8;
  row.cpu_offload = true;
  row.recompute_policy = "other";
  row.recompute = "other (custom, layer input offloaded)";
  const RunCase run = run_case(row);
  ASSERT_TRUE(run.run) << run.why_not;
  EXPECT_EQ(run.run->plan.default_recompute.policy, RecomputePolicy::full);
  EXPECT_TRUE(run.run->plan.training.states.offload.activations);
  EXPECT_FALSE(run.run->plan.training.states.offload.optimizer);
}

TEST(RunCase, ReasonsNotTo) {
  const auto why = [](auto change) {
    RunRow row = made_up_run();
    change(row);
    return run_case(row).why_not;
  };
  EXPECT_EQ(why([](RunRow& r) { r.cpu_offload = true; }),
            "activations or weights are kept in the processor's memory");
  EXPECT_EQ(why([](RunRow& r) { r.notes = "offload ratio alpha=0.2"; }),
            "activations or weights are kept in the processor's memory");
  EXPECT_EQ(why([](RunRow& r) { r.notes = "offload ratio alpha=0.0"; }), "");
  EXPECT_EQ(why([](RunRow& r) { r.micro_batch.reset(); }), "the micro-batch is not stated");
  EXPECT_EQ(why([](RunRow& r) { r.data = 3; }), "the degrees do not multiply up to 16 devices");
  EXPECT_EQ(why([](RunRow& r) { r.tensor = 1'000'000'000'000'000; }),
            "a degree is above the number of devices");
  EXPECT_EQ(why([](RunRow& r) { r.expert = 2; }), "expert groups, but no experts");
  EXPECT_EQ(why([](RunRow& r) { r.sequence = 1'000'000'000'000'000; }),
            "the batch or the sequence is out of range");
  EXPECT_EQ(why([](RunRow& r) { r.global_batch = 63; }),
            "the global batch is no whole number of micro-batches");
  EXPECT_EQ(why([](RunRow& r) { r.micro_batch = 0.3; }), "the micro-batch is no whole number of sequences");
  EXPECT_EQ(why([](RunRow& r) { r.micro_batch = 0; }), "the micro-batch is not above 0");
  EXPECT_EQ(why([](RunRow& r) { r.global_batch.reset(); }), "the global batch is not stated");
  EXPECT_EQ(why([](RunRow& r) {
              r.global_batch.reset();
              r.source = "table (micro_num 4)";
            }),
            "");
}

struct Counts {
  int usable = 0;
  int headline = 0;                    // 16-bit runs on GPUs
  std::map<std::string, int> reasons;  // why a usable row could not be turned into a question
};

Counts count_rows(const std::string& file) {
  Counts counts;
  for (const RunRow& row : read_run_rows("runs.csv", read_file(file), RunTable::times)) {
    if (!row.is_usable()) continue;
    ++counts.usable;
    if (!row.accelerator.starts_with("tpu") && row.precision_class == "16bit") ++counts.headline;
    const RunCase c = run_case(row);
    if (!c.run) ++counts.reasons[c.why_not];
  }
  return counts;
}

const std::map<std::string, int> kOneReason{{"the network between slices of tpu-v4 is not known", 1}};

TEST(RunCase, RunsOfASmallTable) {
  const Counts counts = count_rows(small_file("runs.csv"));
  EXPECT_EQ(counts.usable, 24);
  EXPECT_EQ(counts.headline, 19);
  EXPECT_EQ(counts.reasons, kOneReason);
}

TEST(RunCase, PublishedRuns) {
  const std::string file = shared_file("runs/runs.csv");
  if (file.empty()) GTEST_SKIP() << "the large table is absent; the small one is read above";
  const Counts counts = count_rows(file);
  EXPECT_EQ(counts.usable, 211);
  EXPECT_EQ(counts.headline, 185);
  EXPECT_EQ(counts.reasons, kOneReason);
}

}  // namespace
}  // namespace nest::validate
