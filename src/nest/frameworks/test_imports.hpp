// What an export wrote and an import read back must be one plan.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "nest/frameworks/test_exports.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::test {

inline void expect_same_plan(const Plan& wrote, const Plan& read, unsigned seed) {
  const std::string where = "seed " + std::to_string(seed);
  EXPECT_EQ(read.training, wrote.training) << where;
  const Parallelism& a = wrote.parallelism;
  const Parallelism& b = read.parallelism;
  EXPECT_EQ(a.strategy, b.strategy) << where;
  EXPECT_EQ(std::tie(a.pipeline, a.data, a.interleave), std::tie(b.pipeline, b.data, b.interleave)) << where;
  if (a.pipeline > 1) {
    EXPECT_EQ(a.schedule, b.schedule) << where;
  }
  // Shards of one rank are none.
  const bool sharded = a.zero.shards_anything() && a.zero_shards > 1;
  EXPECT_EQ(sharded, b.zero.shards_anything() && b.zero_shards > 1) << where;
  if (sharded) {
    // FSDP keeps gathered what ZeRO 2 keeps whole.
    const bool fsdp = a.zero == Zero(2) && b.zero.resharding().keeps();
    EXPECT_EQ(spell(fsdp ? b.zero : a.zero), spell(b.zero)) << where;
    EXPECT_EQ(a.zero_shards, b.zero_shards) << where;
  }
  ASSERT_EQ(wrote.stages.size(), read.stages.size()) << where;
  for (std::size_t i = 0; i < read.stages.size(); ++i) {
    const Stage& x = wrote.stages[i];
    const Stage& y = read.stages[i];
    EXPECT_EQ(x.layers, y.layers) << where;
    EXPECT_EQ(x.chunks, y.chunks) << where;
    EXPECT_EQ(x.devices, y.devices) << where;
    EXPECT_EQ(x.strategy, y.strategy) << where;
    EXPECT_EQ(x.recompute.policy, y.recompute.policy) << where;
  }
}

}  // namespace nest::test
