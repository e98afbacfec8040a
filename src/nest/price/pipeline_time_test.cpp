#include "nest/price/pipeline_time.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

#include "nest/price/test_makespan.hpp"

namespace nest::price {
namespace {

constexpr auto kOwn = PipelineModel::one_f_one_b;

double one_f_one_b(const std::vector<StagePass>& stages, std::int64_t m) {
  return pipeline_time(Schedule::one_f_one_b, kOwn, stages, m, 1).value;
}

// The table of the worked example (docs/design.md), in milliseconds.
TEST(PipelineTime, Example) {
  EXPECT_NEAR(one_f_one_b({{3, 6.501}, {1.501, 2}}, 4), 38.505, 1e-9);
  EXPECT_NEAR(one_f_one_b({{3, 11.005}, {6.005, 2}}, 4), 61.025, 1e-9);
  EXPECT_NEAR(one_f_one_b({{1, 7.005}, {8.005, 6}}, 4), 64.025, 1e-9);
  EXPECT_NEAR(one_f_one_b({{1, 7.005}, {7.005, 4.501}, {1.501, 2}}, 8), 100.053, 1e-9);
  EXPECT_NEAR(*makespan(Schedule::one_f_one_b, {3, 8, 1}, {{1, 7.005}, {7.005, 4.501}, {1.501, 2}}), 102.557,
              1e-9);
}

TEST(PipelineTime, OneStageHasNoBubble) {
  for (const Schedule schedule :
       {Schedule::one_f_one_b, Schedule::gpipe, Schedule::interleaved, Schedule::zb_h1}) {
    const std::vector<StagePass> one{{2, 3, 1}};
    EXPECT_NEAR(pipeline_time(schedule, kOwn, one, 7, schedule == Schedule::interleaved ? 3 : 1).value, 35,
                1e-12);
    EXPECT_NEAR(pipeline_time(schedule, PipelineModel::paper, one, 7, 1).value, 35, 1e-12);
    EXPECT_NEAR(pipeline_time(schedule, PipelineModel::sum_max, one, 7, 1).value, 35, 1e-12);
  }
}

TEST(PipelineTime, EqualStages) {
  const std::vector<StagePass> four(4, {1, 2, 1});
  EXPECT_NEAR(one_f_one_b(four, 8), (8 + 3) * 3, 1e-12);
  EXPECT_NEAR(pipeline_time(Schedule::gpipe, kOwn, four, 8, 1).value, (8 + 3) * 3, 1e-12);
  EXPECT_NEAR(pipeline_time(Schedule::interleaved, kOwn, four, 8, 2).value, 8 * 3 + 3 * 3 / 2.0, 1e-12);
  EXPECT_NEAR(pipeline_time(Schedule::zb_h1, kOwn, four, 8, 1).value, 8 * 3 + 3 * (1 + 1 - 1), 1e-12);
}

TEST(PipelineTime, OtherModels) {
  const std::vector<StagePass> three{{1, 2}, {2, 4}, {1, 1}};
  EXPECT_NEAR(pipeline_time(Schedule::one_f_one_b, PipelineModel::sum_max, three, 5, 1).value, 11 + 4 * 6,
              1e-12);
  EXPECT_NEAR(pipeline_time(Schedule::one_f_one_b, PipelineModel::paper, three, 5, 1).value, 7 * 6, 1e-12);
}

constexpr unsigned kSeed = 20260802;

// Excess of the task order's time over the formula's, over random pipelines of one spread.
struct Band {
  double least = 1;
  double most = 0;
  double mean = 0;
  double within_1_percent = 0;
};

enum class Uneven { stages, chunks };

Band measure(Schedule schedule, double spread, Uneven uneven = Uneven::stages) {
  std::mt19937 random(kSeed);
  const auto real = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  constexpr int kRounds = 2000;
  Band band;
  for (int round = 0; round < kRounds; ++round) {
    ScheduleShape shape{.stages = pick(1, 10), .micro_batches = pick(1, 40)};
    if (schedule == Schedule::interleaved) {
      shape.chunks = pick(2, 5);
      shape.micro_batches = shape.stages * pick(1, 6);
    }
    if (schedule == Schedule::zb_v || schedule == Schedule::dualpipe_v) {
      shape.chunks = 2;
      shape.stages = std::max<std::int64_t>(2, shape.stages);
    }
    const bool pairs = schedule == Schedule::dualpipe_v;
    if (pairs) shape.micro_batches += 2 * shape.stages;
    const double f = real(0.5, 1.5);
    const double b_in = real(0.5, 1.5);
    const double weight = real(0.5, 1.5);
    const double hidden = pairs ? real(0, 0.9) : 0;  // of the shorter pass
    std::vector<StagePass> chunks;
    std::vector<StagePass> stages;
    for (std::int64_t i = 0; i < shape.stages; ++i) {
      StagePass pass;
      pass.weight = weight * real(1, 1 + spread);
      pass.f = f * real(1, 1 + spread);
      pass.b = b_in * real(1, 1 + spread) + pass.weight;
      if (pairs) pass.pair = pass.f + pass.b - hidden * std::min(pass.f, pass.b) * real(1 / (1 + spread), 1);
      StagePass sum;
      for (std::int64_t c = 0; c < shape.chunks; ++c) {
        const double size = uneven == Uneven::chunks ? real(1, 1 + spread) : 1;
        chunks.push_back({pass.f * size, pass.b * size, pass.weight * size, pass.pair * size});
        sum.f += pass.f * size;
        sum.b += pass.b * size;
        sum.weight += pass.weight * size;
        sum.pair += pass.pair * size;
      }
      stages.push_back(sum);
    }
    const double formula =
        uneven == Uneven::chunks
            ? chunk_time(schedule, chunks, shape.stages, shape.micro_batches).value
            : pipeline_time(schedule, kOwn, stages, shape.micro_batches, shape.chunks).value;
    const double excess = *makespan(schedule, shape, chunks) / formula - 1;
    band.least = std::min(band.least, excess);
    band.most = std::max(band.most, excess);
    band.mean += excess / kRounds;
    band.within_1_percent += (excess < 0.01 ? 1.0 : 0.0) / kRounds;
  }
  std::printf(
      "seed %u, spread %3.0f %%: order over formula %.1e to %.2f %%, mean %.2f %%, within 1 %%: %.1f %%\n",
      kSeed, 100 * spread, band.least, 100 * band.most, 100 * band.mean, 100 * band.within_1_percent);
  return band;
}

TEST(PipelineTime, BandOf1F1B) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure(Schedule::one_f_one_b, spread);
    EXPECT_GT(band.least, -1e-12);
    EXPECT_LT(band.most, spread == 0 ? 1e-12 : spread < 1 ? 0.01 : 0.10);
  }
}

TEST(PipelineTime, GPipeIsExact) {
  for (const double spread : {0.0, 0.3, 3.0}) {
    const Band band = measure(Schedule::gpipe, spread);
    EXPECT_GT(band.least, -1e-12);
    EXPECT_LT(band.most, 1e-12);
  }
}

TEST(PipelineTime, BandOfInterleaved) {
  for (const Uneven uneven : {Uneven::stages, Uneven::chunks}) {
    for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
      const Band band = measure(Schedule::interleaved, spread, uneven);
      EXPECT_GT(band.least, -1e-12);
      EXPECT_LT(band.most, spread == 0 ? 1e-12 : spread < 1 ? 0.06 : 0.30);
      EXPECT_LT(band.mean, spread < 1 ? 0.005 : 0.03);
    }
  }
}

TEST(PipelineTime, BandOfZeroBubble) {
  for (const double spread : {0.0, 0.1, 0.3, 3.0}) {
    const Band band = measure(Schedule::zb_h1, spread);
    EXPECT_GT(band.least, -1e-12);
    EXPECT_LT(band.most, spread == 0 ? 1e-12 : spread < 1 ? 0.06 : 0.30);
    EXPECT_LT(band.mean, spread < 1 ? 0.005 : 0.03);
  }
}

// Its formula is the longest path over its tasks: exact for any times, of stages and of chunks.
TEST(PipelineTime, ZeroBubbleVIsExact) {
  for (const Uneven uneven : {Uneven::stages, Uneven::chunks}) {
    for (const double spread : {0.0, 0.3, 3.0}) {
      const Band band = measure(Schedule::zb_v, spread, uneven);
      EXPECT_GT(band.least, -1e-12);
      EXPECT_LT(band.most, 1e-12);
    }
  }
}

// The same with pairs, however much of them hides.
TEST(PipelineTime, DualPipeVIsExact) {
  for (const Uneven uneven : {Uneven::stages, Uneven::chunks}) {
    for (const double spread : {0.0, 0.3, 3.0}) {
      const Band band = measure(Schedule::dualpipe_v, spread, uneven);
      EXPECT_GT(band.least, -1e-12);
      EXPECT_LT(band.most, 1e-12);
    }
  }
}

TEST(PipelineTime, MoreStagesThanFitOnTheStack) {
  const std::vector<StagePass> many(600, {1, 2, 1});
  EXPECT_NEAR(pipeline_time(Schedule::interleaved, kOwn, many, 600, 2).value, 600 * 3 + 599 * 1.5, 1e-6);
}

}  // namespace
}  // namespace nest::price
