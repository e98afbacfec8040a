#include "nest/frameworks/megatron/megatron_stages.hpp"

#include <gtest/gtest.h>

#include "nest/plan/inputs.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

// Blocks and ends of each stage: llama3.1-8b has 32 blocks.
std::vector<std::size_t> sizes(const MegatronSplit& split, std::int64_t pipeline,
                               const Recompute& recompute = {}) {
  Warnings warnings;
  static const PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  Plan plan;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.interleave = split.interleave;
  make_stages(split, recompute, inputs, plan);
  std::vector<std::size_t> out;
  for (const Stage& stage : plan.stages) out.push_back(stage.layers.size());
  return out;
}

using Sizes = std::vector<std::size_t>;

TEST(MegatronStages, OfEverySplit) {
  EXPECT_EQ(sizes({}, 4), (Sizes{9, 8, 8, 9}));
  EXPECT_EQ(sizes({.layout = read_layout("Et*5|t*20|t*7|L")}, 4), (Sizes{6, 20, 7, 1}));
  EXPECT_EQ(sizes({.first = 4, .last = 8}, 4), (Sizes{5, 10, 10, 9}));
  EXPECT_EQ(sizes({.first = 2}, 4), (Sizes{3, 10, 10, 11}));
  EXPECT_EQ(sizes({.embedding_slot = true, .loss_slot = true}, 2), (Sizes{17, 17}));
  EXPECT_EQ(sizes({.layers_per_chunk = 4}, 4), (Sizes{9, 8, 8, 9}));
  EXPECT_EQ(sizes({.interleave = 2}, 4), (Sizes{9, 8, 8, 9}));
}

TEST(MegatronStages, RefuseWhatDoesNotDivide) {
  const auto problem = [](const MegatronSplit& split, std::int64_t pipeline, const Recompute& r = {}) {
    return message_of([&] { static_cast<void>(sizes(split, pipeline, r)); });
  };
  EXPECT_EQ(problem({}, 5), "--pipeline-model-parallel-size: 32 layers do not divide over 5 stages");
  EXPECT_EQ(problem({.loss_slot = true}, 4),
            "--pipeline-model-parallel-size: 32 layers and 1 slots do not divide over 4 stages");
  EXPECT_EQ(problem({.interleave = 3}, 4),
            "--pipeline-model-parallel-size: 32 layers do not divide over 4 stages of 3 chunks");
  EXPECT_EQ(problem({.first = 3}, 4),
            "--decoder-first-pipeline-num-layers: 29 layers do not divide over the other 3 stages");
  EXPECT_EQ(problem({.layers_per_chunk = 5}, 4),
            "--num-layers-per-virtual-pipeline-stage: 32 layers do not divide over 4 stages by 5");
  EXPECT_EQ(problem({.layout = read_layout("Et*5|t*20L")}, 2),
            "--pipeline-model-parallel-layout: it has 25 layers, the model 32");
  EXPECT_EQ(
      problem({.layout = read_layout("Et*32|m|L")}, 3),
      "--pipeline-model-parallel-layout: a plan has the modules for multi-token prediction in one stage "
      "with the loss");
  EXPECT_EQ(problem({.layout = read_layout("Et*16|t*16mL")}, 2),
            "--pipeline-model-parallel-layout: it has 1 modules for multi-token prediction, the plan 0");
  EXPECT_EQ(problem({.layout = read_layout("Et*16||t*16|L")}, 4),
            "--pipeline-model-parallel-layout: part 1 has no layers");
  EXPECT_EQ(problem({.interleave = 2}, 4, {RecomputePolicy::full, 1}),
            "--recompute-num-layers: a plan recomputes all layers of an interleaved stage, not some of every "
            "chunk");
  EXPECT_EQ(problem({.interleave = 2}, 4, {RecomputePolicy::full, 4}), "(no error)");
}

}  // namespace
}  // namespace nest::frameworks
