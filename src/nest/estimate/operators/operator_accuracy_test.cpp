// How far estimates are from measurements that they were not made from. The printed tables are those of
// docs/cost-model.md; the bounds have some headroom over what was reached, so that a step back shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "nest/estimate/operators/operator_time.hpp"
#include "nest/estimate/operators/test_operator_layers.hpp"

namespace nest::estimate {
namespace {

using test::MeasuredLayer;
using test::MeasuredStep;

struct Errors {
  std::vector<double> values;

  void add(double estimate, double measured) { values.push_back(std::abs(estimate / measured - 1)); }
  [[nodiscard]] double at(double share) const {
    if (values.empty()) return 0;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size() - 1)))];
  }
  [[nodiscard]] double median() const { return at(0.5); }
  [[nodiscard]] double p90() const { return at(0.9); }
};

void print(const std::string& name, const Errors& e) {
  std::printf("%-28s %5zu %8.1f %% %8.1f %%\n", name.c_str(), e.values.size(), 100 * e.median(),
              100 * e.p90());
}

std::shared_ptr<const KernelTimes> held_out_times() {
  static const auto kTimes = std::make_shared<const KernelTimes>(find_accelerator("h200"), true);
  return kTimes;
}

constexpr double kShort = 50e-6;  // below it launches hide what a kernel takes

Errors errors_of(std::string_view prefix) {
  Errors out;
  for (const KernelKindRow& row : kernel_kinds()) {
    const MeasuredSeries* series = shipped_profile("h200")->series(row.series);
    if (!series || !row.series.starts_with(prefix)) continue;
    for (const MeasuredPoint& p : series->points) {
      if (!p.held_out || p.seconds < kShort) continue;
      out.add(held_out_times()->seconds({row.kind, p.sizes}).time.value, p.seconds);
    }
  }
  return out;
}

// Of the measured layers some have q, k and v as one product, none gate and up.
LayerTime layer_time(const LayerType& layer, bool fused_qkv, bool compiled) {
  const OperatorTimes separate(held_out_times(), {.compiled = compiled});
  if (!fused_qkv) return separate.layer(layer);
  const OperatorTimes joined(held_out_times(), {.fused_projections = true, .compiled = compiled});
  LayerTime out = joined.layer(layer);
  for (const Operator& op : layer.operators) {
    if (op.name != "gate_up") continue;
    const OperatorTime one = joined.time(layer, op);
    const OperatorTime two = separate.time(layer, op);
    out.device.forward += two.forward - one.forward;
    out.device.backward_input += two.backward_input - one.backward_input;
    out.device.backward_weight += two.backward_weight - one.backward_weight;
  }
  return out;
}

TEST(OperatorAccuracy, HeldOutOperatorsAbove50Microseconds) {
  struct Bound {
    const char* prefix;
    double median, p90;
  };
  std::printf("%-28s %5s %10s %10s\n", "operator", "rows", "median", "90th");
  const std::vector<Bound> bounds{{"", 0.030, 0.10},
                                  {"matmul/forward", 0.03, 0.10},
                                  {"matmul/input", 0.03, 0.10},
                                  {"matmul/weight", 0.03, 0.10},
                                  {"fp8_matmul", 0.08, 0.12},
                                  {"grouped_matmul", 0.07, 0.15},
                                  {"attention/forward", 0.03, 0.09},
                                  {"attention/backward", 0.05, 0.11},
                                  {"rms_norm", 0.1, 0.18},
                                  {"layer_norm", 0.1, 0.23},
                                  {"swiglu", 0.03, 0.03},
                                  {"gelu", 0.03, 0.03},
                                  {"rotary", 0.05, 0.08},
                                  {"embedding", 0.1, 0.25},
                                  {"loss", 0.03, 0.08},
                                  {"dispatch", 0.08, 0.2},
                                  {"combine", 0.04, 0.06}};
  for (const Bound& bound : bounds) {
    const Errors errors = errors_of(bound.prefix);
    print(*bound.prefix ? bound.prefix : "all", errors);
    EXPECT_FALSE(errors.values.empty()) << bound.prefix;
    EXPECT_LE(errors.median(), bound.median) << bound.prefix;
    EXPECT_LE(errors.p90(), bound.p90) << bound.prefix;
  }
}

void judge_layers(const std::string& mode, double median, double p90) {
  Errors forward;
  Errors backward;
  Errors bound;
  for (const MeasuredLayer& row : test::measured_layers("h200")) {
    if (row.mode != mode) continue;
    const LayerType layer =
        test::shard_block(test::test_model(row.model), row.t, row.micro_batch, row.sequence);
    const LayerTime time = layer_time(layer, row.qkv == "fused", mode == "compiled");
    if (time.launch_bound) {
      bound.add(time.forward().value + time.backward().value, row.forward_s + row.backward_s);
    } else {
      forward.add(time.forward().value, row.forward_s);
      backward.add(time.backward().value, row.backward_s);
    }
  }
  print(mode + " layers, forward", forward);
  print(mode + " layers, backward", backward);
  print(mode + " layers, launch-bound", bound);
  EXPECT_LE(forward.median(), median);
  EXPECT_LE(backward.median(), median);
  EXPECT_LE(forward.p90(), p90);
  EXPECT_LE(backward.p90(), p90);
  EXPECT_LE(bound.median(), 0.5);
}

TEST(OperatorAccuracy, WholeLayers) {
  judge_layers("eager", 0.035, 0.12);
}

TEST(OperatorAccuracy, CompiledLayers) {
  judge_layers("compiled", 0.05, 0.25);
}

// Bytes between forward and backward as torch counted them. Where q, k and v are one product, its views keep
// all of it: that is most of what is left.
TEST(OperatorAccuracy, BytesKeptBetweenForwardAndBackward) {
  Errors errors;
  for (const MeasuredLayer& row : test::measured_layers("h200")) {
    if (row.mode != "eager") continue;
    const LayerType layer =
        test::shard_block(test::test_model(row.model), row.t, row.micro_batch, row.sequence, false);
    errors.add(static_cast<double>(layer.stash_bytes().value), static_cast<double>(row.stash_bytes));
  }
  print("kept bytes, eager layers", errors);
  EXPECT_GE(errors.values.size(), 60U);
  EXPECT_LE(errors.median(), 0.01);
  EXPECT_LE(errors.p90(), 0.05);
}

TEST(OperatorAccuracy, WholeTrainingSteps) {
  Errors errors;
  for (const MeasuredStep& step : test::measured_steps("h200")) {
    const double estimate = test::step_seconds(
        *held_out_times(), step,
        [&](const LayerType& layer, bool fused) { return layer_time(layer, fused, false); });
    std::printf("%-16s %-7s b%ld s%-5ld x%ld %-5s measured %6.1f ms  estimate %6.1f ms  %+5.1f %%\n",
                step.model.c_str(), step.variant.c_str(), step.micro_batch, step.sequence, step.micro_batches,
                step.recompute.c_str(), 1e3 * step.step_s, 1e3 * estimate,
                100 * (estimate / step.step_s - 1));
    errors.add(estimate, step.step_s);
  }
  print("training steps", errors);
  EXPECT_LE(errors.median(), 0.01);
  EXPECT_LE(errors.at(1), 0.04);
}

}  // namespace
}  // namespace nest::estimate
