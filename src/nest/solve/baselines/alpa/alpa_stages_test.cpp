#include "nest/solve/baselines/alpa/alpa_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "nest/plan/test_plans.hpp"
#include "support/stride.hpp"

namespace nest::solve::alpa {
namespace {

using test::Dice;

struct Running {
  double sum = 0;
  double most = 0;
};

// Every cut on every choice of submeshes.
void try_all(const StageProblem& problem, std::size_t first, std::int64_t left, Running so_far,
             std::optional<double>& best) {
  if (first == problem.layers) {
    if (left != 0) return;
    const double step = so_far.sum + static_cast<double>(problem.micro_batches - 1) * so_far.most;
    if (!best || step < *best) best = step;
    return;
  }
  for (std::size_t last = first + 1; last <= problem.layers; ++last) {
    for (std::size_t m = 0; m < problem.submeshes.size(); ++m) {
      const auto own = problem.latency(first, last, m);
      if (!own || problem.submeshes[m] > left) continue;
      try_all(problem, last, left - problem.submeshes[m],
              {so_far.sum + own->value, std::max(so_far.most, own->value)}, best);
    }
  }
}

TEST(AlpaStages, AgreesWithEnumeration) {
  int solved = 0;
  for (unsigned seed = 1; seed <= 400; seed += test::stride()) {
    Dice dice(seed);
    StageProblem problem;
    problem.layers = static_cast<std::size_t>(dice.pick(1, 5));
    problem.devices = dice.pick(1, 8);
    problem.micro_batches = dice.pick(1, 12);
    for (const std::int64_t size : {1, 2, 4, 8}) {
      if (!dice.once_in(4)) problem.submeshes.push_back(size);
    }
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::optional<Seconds>> known;
    for (std::size_t f = 0; f < problem.layers; ++f) {
      for (std::size_t l = f + 1; l <= problem.layers; ++l) {
        for (std::size_t m = 0; m < problem.submeshes.size(); ++m) {
          if (!dice.once_in(10)) known[{f, l, m}] = Seconds{static_cast<double>(dice.pick(1, 40))};
        }
      }
    }
    problem.latency = [&](std::size_t f, std::size_t l, std::size_t m) { return known[{f, l, m}]; };
    std::optional<double> best;
    try_all(problem, 0, problem.devices, {}, best);
    const std::optional<StageSplit> split = solve_stages(problem);
    ASSERT_EQ(split.has_value(), best.has_value()) << "seed " << seed;
    if (!split) continue;
    ++solved;
    ASSERT_DOUBLE_EQ(split->step.value, *best) << "seed " << seed;
    // What it lists is what it says.
    Running listed;
    std::int64_t devices = 0;
    std::size_t next = 0;
    for (const StagePick& pick : split->stages) {
      ASSERT_EQ(pick.first, next);
      next = pick.last;
      devices += problem.submeshes[pick.submesh];
      const double own = known[{pick.first, pick.last, pick.submesh}]->value;
      listed = {listed.sum + own, std::max(listed.most, own)};
    }
    ASSERT_EQ(next, problem.layers);
    ASSERT_EQ(devices, problem.devices);
    ASSERT_DOUBLE_EQ(listed.sum + static_cast<double>(problem.micro_batches - 1) * listed.most, *best);
  }
  EXPECT_GT(test::often(solved), 200);
}

double greatest(const std::vector<Seconds>& times, const std::vector<std::size_t>& firsts) {
  double most = 0;
  for (std::size_t s = 0; s < firsts.size(); ++s) {
    const std::size_t last = s + 1 < firsts.size() ? firsts[s + 1] : times.size();
    EXPECT_LT(firsts[s], last);
    double own = 0;
    for (std::size_t i = firsts[s]; i < last; ++i) own += times[i].value;
    most = std::max(most, own);
  }
  return most;
}

double least_greatest(const std::vector<Seconds>& times, std::size_t first, std::size_t stages) {
  if (stages == 0) return first == times.size() ? 0 : 1e9;
  double least = 1e9;
  double own = 0;
  for (std::size_t last = first + 1; last + stages - 1 <= times.size(); ++last) {
    own += times[last - 1].value;
    least = std::min(least, std::max(own, least_greatest(times, last, stages - 1)));
  }
  return least;
}

TEST(AlpaStages, EqualStagesAgreeWithEnumeration) {
  for (unsigned seed = 1; seed <= 500; seed += test::stride()) {
    Dice dice(seed);
    std::vector<Seconds> times(static_cast<std::size_t>(dice.pick(1, 9)));
    for (Seconds& t : times) t = Seconds{static_cast<double>(dice.pick(dice.once_in(4) ? 0 : 1, 9))};
    const auto stages = static_cast<std::size_t>(dice.pick(1, static_cast<std::int64_t>(times.size())));
    const std::vector<std::size_t> firsts = equal_stages(times, stages);
    ASSERT_EQ(firsts.size(), stages);
    ASSERT_DOUBLE_EQ(greatest(times, firsts), least_greatest(times, 0, stages)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nest::solve::alpa
