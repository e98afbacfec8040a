#include "nest/frameworks/common/imported_run.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

struct SomeRun {
  ImportQuestion question{.file = "x", .model = "llama3.1-8b", .cluster = "h100-spine-leaf"};
  Warnings warnings;

  ImportedRun make() {
    ImportedRun run{question, warnings, load_run_inputs(question, "deepspeed")};
    load_run_model(run);
    run.plan.training.sequence = 2048;
    run.plan.parallelism.strategy.tensor = 2;
    return run;
  }
};

TEST(ImportedRun, WorksOutRanksAndBatch) {
  SomeRun base;
  ImportedRun run = base.make();
  run.ranks = 16;
  run.global_batch = 64;
  run.settle_ranks();
  run.settle_batch("batch");
  run.settle_shards(3);
  EXPECT_EQ(run.plan.parallelism.data, 8);
  EXPECT_EQ(run.plan.parallelism.zero_shards, 8);
  EXPECT_EQ(run.plan.training.micro_batches, 8);
  const OpenPlan open = run.finish();
  EXPECT_EQ(open.plan.stages.at(0).devices.size(), 8U);
  EXPECT_EQ(open.plan.stages[0].devices[1][0], DeviceId{2});
  EXPECT_TRUE(base.warnings.empty());
}

TEST(ImportedRun, AssumesAsManyRanksAsTheBatchAllows) {
  SomeRun base;
  ImportedRun run = base.make();
  run.global_batch = 24;
  run.settle_ranks();
  EXPECT_EQ(run.plan.parallelism.data, 24);
  EXPECT_EQ(base.warnings,
            Warnings{"x: the number of ranks is not in it: 48 are assumed, --devices sets another"});
}

TEST(ImportedRun, RefusesWhatContradictsItself) {
  SomeRun base;
  const auto problem = [&](std::int64_t ranks, std::int64_t data, std::int64_t batch) {
    return message_of([&] {
      ImportedRun run = base.make();
      run.ranks = ranks;
      run.data = data;
      run.global_batch = batch;
      run.settle_ranks();
      run.settle_batch("batch");
    });
  };
  EXPECT_EQ(problem(15, 0, 8), "x: 15 ranks are not a multiple of tensor x context x pipeline = 2");
  EXPECT_EQ(problem(16, 4, 8), "x: 16 ranks leave 8 for data parallelism, and the file says 4");
  EXPECT_EQ(problem(16, 8, 9), "x: batch: 9 is not a multiple of micro-batch 1 x data 8");
  EXPECT_EQ(problem(0, 8, 16), "(no error)");
  base.question.model.reset();
  EXPECT_EQ(problem(16, 0, 8), "x: it names no model; name one with --model");
}

TEST(ImportedRun, CutsStagesAndChunksInOrder) {
  Plan plan;
  plan.parallelism.pipeline = 2;
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  cut_stages(plan, {2, 1, 1, 2});
  using Layers = std::vector<LayerId>;
  EXPECT_EQ(plan.stages[0].layers, (Layers{LayerId{0}, LayerId{1}, LayerId{3}}));
  EXPECT_EQ(plan.stages[1].chunks, (std::vector<Layers>{{LayerId{2}}, {LayerId{4}, LayerId{5}}}));
  plan.parallelism.schedule = Schedule::zb_v;  // there and back
  cut_stages(plan, {2, 1, 1, 2});
  EXPECT_EQ(plan.stages[0].chunks[1], (Layers{LayerId{4}, LayerId{5}}));
}

}  // namespace
}  // namespace nest::frameworks
