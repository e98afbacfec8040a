#include <gtest/gtest.h>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

TEST(AccelerateRules, ThereAreNoStagesAndNoExpertRanks) {
  PlanDegrees d;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.pipeline = 2;
  EXPECT_EQ(broken("accelerate", d), "no-pipeline");
  d.parallelism.pipeline = 1;
  d.parallelism.strategy.expert = 2;
  EXPECT_EQ(broken("accelerate", d), "no-expert-parallelism");
}

TEST(AccelerateRules, TensorRanksGoWithShardsAndNotWithCopies) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2};
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.data = 4;
  EXPECT_EQ(broken("accelerate", d), "tensor-with-copies");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.zero_shards = 1;
  EXPECT_EQ(broken("accelerate", d), "tensor-with-copies");
  d.parallelism.zero_shards = 2;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.strategy.sequence_parallel = true;
  EXPECT_EQ(broken("accelerate", d), "tensor-without-sequence-parallel");
}

TEST(AccelerateRules, RingAttentionIsPartOfFsdp) {
  PlanDegrees d;
  d.training.sequence = 16;
  d.parallelism.strategy = {.context = 4};
  EXPECT_EQ(broken("accelerate", d), "context-is-sharded");
  d.parallelism.zero = 2;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.data = 2;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("accelerate", d), "context-is-sharded");
  d.parallelism.zero_shards = 8;
  d.training.sequence = 12;
  EXPECT_EQ(broken("accelerate", d), "sequence-in-halves");
}

TEST(AccelerateRules, ZeRO1AndUlyssesAreDeepSpeeds) {
  PlanDegrees d;
  d.parallelism.data = 8;
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("accelerate", d), "deepspeed-shards-whole");
  d.parallelism.zero_shards = 8;
  d.training.precision = Precision::fp8;
  EXPECT_EQ(broken("accelerate", d), "fp8-without-deepspeed");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("accelerate", d), "");
  d.training.precision = Precision::bf16;
  d.parallelism.strategy = {.context = 2, .context_method = ContextMethod::all_to_all};
  d.parallelism.zero_shards = 16;
  EXPECT_EQ(broken("accelerate", d), "");
  d.parallelism.zero = 0;
  EXPECT_EQ(broken("accelerate", d), "ulysses-with-zero");
  d.parallelism.zero = 1;
  d.parallelism.strategy.tensor = 2;
  d.parallelism.data = 1;
  EXPECT_EQ(broken("accelerate", d), "deepspeed-alone");
}

}  // namespace
}  // namespace nest::plan
