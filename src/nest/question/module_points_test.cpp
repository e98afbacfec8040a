#include "nest/question/module_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/price/layers/cost_book.hpp"
#include "nest/strategies/recompute.hpp"

namespace nest::question {
namespace {

using enum RecomputeModule;

PlanInputs loaded(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "megatron", warnings);
}

// What one device with the whole model runs again, and what it holds: by the prices of layers, not by those of operators.
struct DeviceCost {
  double seconds = 0;
  double bytes = 0;
};

class OneDevice {
 public:
  OneDevice(const PlanInputs& inputs, Training training) : book_(inputs), training_(std::move(training)) {
    training_.micro_batch = 1;
  }
  DeviceCost of(const LayerPolicy& policy) {
    DeviceCost out;
    double transient = 0;
    const std::vector<LayerCompute>& types = book_.computes(training_, Strategy{}, policy);
    for (const Layer& layer : book_.model(training_).model->layers) {
      out.seconds += types[layer.type].recompute.value;
      out.bytes += static_cast<double>(types[layer.type].stash.value);
      transient = std::max(transient, static_cast<double>(types[layer.type].transient.value));
    }
    out.bytes += transient;
    return out;
  }

 private:
  CostBook book_;
  Training training_;
};

// No set of all 127 is below the lines through none, the points and full, where the host issues kernels in time: the points
// are judged by the kernels alone.
TEST(ModulePoints, NothingBetterIsLeftOut) {
  for (const char* model : {"llama3.1-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const PlanInputs inputs = loaded(model);
    const Training training{.sequence = 4096};
    const std::vector<RecomputeModules> points = module_points(inputs, training);
    ASSERT_FALSE(points.empty()) << model;
    ASSERT_LT(points.size(), kMostModulePoints) << model << ": none was left out for their number";
    OneDevice device(inputs, training);
    std::vector<DeviceCost> known{device.of(RecomputePolicy::none)};
    for (const RecomputeModules set : points) known.push_back(device.of({RecomputePolicy::modules, set}));
    known.push_back(device.of(RecomputePolicy::full));
    for (std::size_t i = 1; i < known.size(); ++i) {
      EXPECT_LT(known[i - 1].seconds, known[i].seconds) << model;
      EXPECT_GT(known[i - 1].bytes, known[i].bytes) << model;
    }
    for (std::uint32_t bits = 1; bits < 1U << kMostModules; ++bits) {
      const RecomputeModules set = RecomputeModules::of_bits(bits);
      const DeviceCost own = device.of({RecomputePolicy::modules, set});
      for (std::size_t i = 1; i < known.size(); ++i) {
        const DeviceCost& a = known[i - 1];
        const DeviceCost& b = known[i];
        if (own.bytes > a.bytes || own.bytes < b.bytes) continue;
        const double line = a.seconds + (b.seconds - a.seconds) * (a.bytes - own.bytes) / (a.bytes - b.bytes);
        EXPECT_GE(own.seconds, line - 2e-3 * known.back().seconds) << model << " " << spell(set, "+");
      }
    }
  }
}

TEST(ModulePoints, OnlyModulesThatTheModelHas) {
  for (const RecomputeModules set : module_points(loaded("llama3.1-8b"), Training{.sequence = 8192})) {
    for (const RecomputeModule other : {mla_up_proj, moe_act, moe, shared_experts})
      EXPECT_FALSE(set.has(other)) << spell(set, "+");
    EXPECT_NE(set, RecomputeModules{core_attn}) << "this is the policy selective";
  }
}

SearchSpace space_of(const char* framework) {
  SearchSpace space;
  space.rules = find_framework_rules(framework);
  return space;
}

TEST(ModulePoints, WhatAFrameworkCanSay) {
  const PlanInputs llama = loaded("llama3.1-8b");
  const Training training{.sequence = 8192};
  EXPECT_EQ(points_of(llama, training, space_of("torchtitan")), nullptr);
  EXPECT_EQ(points_of(llama, training, SearchSpace{})->sets(), module_points(llama, training));
  EXPECT_EQ(points_of(llama, training, space_of("megatron"))->sets(), module_points(llama, training));
  const auto maxtext = points_of(llama, training, space_of("maxtext"));
  for (const RecomputeModules set : maxtext->sets())
    EXPECT_TRUE(set == RecomputeModules{mlp} || set == (RecomputeModules{core_attn, mlp}));
  EXPECT_EQ(points_of(loaded("mixtral-8x7b"), training, space_of("maxtext")), nullptr);
}

}  // namespace
}  // namespace nest::question
