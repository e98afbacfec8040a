#include "nest/plan/schedules/order_time.hpp"

#include <gtest/gtest.h>

#include <random>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/test_makespan.hpp"

namespace nest::plan {
using namespace price;
namespace {

constexpr unsigned kSeed = 20261116;

struct Drawn {
  const PipelineSchedule* schedule;
  ScheduleShape shape;
  std::vector<StagePass> chunks;
};

Drawn draw(std::mt19937& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  const auto real = [&] { return std::uniform_real_distribution<double>(0, 2)(random); };
  Drawn d{kSchedules[static_cast<std::size_t>(pick(0, static_cast<int>(kSchedules.size()) - 1))], {}, {}};
  d.shape = {pick(2, 7), pick(1, 20), d.schedule->least_chunks};
  if (d.schedule->in_rounds) d.shape.micro_batches *= d.shape.stages;
  if (d.schedule->pairs_passes) d.shape.micro_batches += 2 * d.shape.stages;
  for (std::int64_t i = 0; i < d.shape.parts(); ++i) {
    const double weight = real();
    d.chunks.push_back({real(), weight + real(), weight, d.schedule->pairs_passes ? real() : 0});
  }
  return d;
}

// Every schedule's order, any times: the same as the tests' own walk over the tasks.
TEST(OrderTime, IsTheLongestPathOverTheTasks) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 1000; ++round) {
    const Drawn d = draw(random);
    const std::optional<double> walked = makespan(d.schedule->id, d.shape, d.chunks);
    ASSERT_TRUE(walked.has_value());
    ASSERT_NEAR(order_time(*d.schedule, d.chunks, d.shape), *walked, 1e-9 * *walked) << d.schedule->name;
  }
}

// What a search over splits relies on.
TEST(OrderTime, LongerPassesNeverMakeItShorter) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed + 1);
  for (int round = 0; round < 1000; ++round) {
    Drawn d = draw(random);
    const double before = order_time(*d.schedule, d.chunks, d.shape);
    StagePass& one = d.chunks[random() % d.chunks.size()];
    std::array{&one.f, &one.b, &one.pair}[static_cast<std::size_t>(round) % 3][0] += 0.5;
    ASSERT_GE(order_time(*d.schedule, d.chunks, d.shape), before) << d.schedule->name;
  }
}

TEST(OrderTime, ThePeakIsThatOfTheOrder) {
  const std::vector<Bytes> stashes{Bytes{3}, Bytes{5}};
  // Fa0 Fb0 Fa1 Fb1 | Bb0 Wb0 ...: two of each.
  EXPECT_EQ(order_peak(kZbV, {2, 4, 2}, 1, stashes), Bytes{3 + 3 + 5 + 5});
}

}  // namespace
}  // namespace nest::plan
